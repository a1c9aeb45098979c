import type { MessagePort } from 'node:worker_threads'
import { ensureError } from '../../common/errors.js'
import type { LogRecord, RecordBatch } from '../log/log.js'
import type { JournalReader } from './journal-source.js'

type Method = 'topic' | 'offsets' | 'offsetForTime' | 'read'

interface Request {
  readonly id: number
  readonly method: Method
  readonly args: readonly unknown[]
}

type Answer = { readonly id: number } & ({ readonly result: unknown } | { readonly error: ErrorTold })

/** What is left of an error on its way to another thread. */
interface ErrorTold {
  readonly message: string
  readonly code?: string
  readonly action?: string
}

/** A batch of journal records: their values one behind the other in one transferred buffer; -1 bytes: null. */
interface PackedBatch extends Omit<RecordBatch, 'records'> {
  readonly offsets: readonly number[]
  readonly timestamps: readonly number[]
  readonly lengths: readonly number[]
  readonly values: ArrayBuffer
}

/** Lets the other end of a port read what `reader` reads. It ends with the port. */
export function serveReader(port: MessagePort, reader: JournalReader): void {
  async function answer({ method, args }: Request): Promise<unknown> {
    // The other end calls as the port's type says.
    const result = await (reader[method] as (...given: readonly unknown[]) => Promise<unknown>)(...args)
    return method === 'read' ? packed(result as RecordBatch) : result
  }
  port.on('message', (request: Request) => {
    const { id } = request
    answer(request).then(
      (result) => {
        const transferred = request.method === 'read' ? [(result as PackedBatch).values] : []
        port.postMessage({ id, result } satisfies Answer, transferred)
      },
      (thrown: unknown) => {
        const { message, code, action } = ensureError(thrown) as ErrorTold
        const error = { message, ...(code !== undefined && { code }), ...(action !== undefined && { action }) }
        port.postMessage({ id, error } satisfies Answer)
      },
    )
  })
}

/**
 * Reads journals through the thread at the other end of a port, which serves them with `serveReader`. Journal records have
 * neither key nor headers. An error has message, code and action of the one over there, not its class.
 */
export function portReader(port: MessagePort): JournalReader {
  const waiting = new Map<number, (answer: Answer) => void>()
  let nextId = 0
  port.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  function call<Result>(method: Method, ...args: readonly unknown[]): Promise<Result> {
    return new Promise((resolve, reject) => {
      const id = nextId++
      waiting.set(id, (answer) => {
        if ('error' in answer) reject(Object.assign(new Error(answer.error.message), answer.error))
        else resolve(answer.result as Result)
      })
      port.postMessage({ id, method, args } satisfies Request)
    })
  }
  return {
    topic: (name) => call('topic', name),
    offsets: (partition) => call('offsets', partition),
    offsetForTime: (partition, timestampMs) => call('offsetForTime', partition, timestampMs),
    read: async (partition, offset, options) => unpacked(await call<PackedBatch>('read', partition, offset, options)),
  }
}

function packed({ records, ...batch }: RecordBatch): PackedBatch {
  const bytes = new Uint8Array(records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0))
  let at = 0
  for (const { value } of records) {
    if (value === null) continue
    bytes.set(value, at)
    at += value.length
  }
  return {
    ...batch,
    offsets: records.map(({ offset }) => offset),
    timestamps: records.map(({ timestamp }) => timestamp),
    lengths: records.map(({ value }) => value?.length ?? -1),
    values: bytes.buffer,
  }
}

function unpacked({ offsets, timestamps, lengths, values, ...batch }: PackedBatch): RecordBatch {
  let at = 0
  const records = offsets.map((offset, i): LogRecord => {
    const length = lengths[i] ?? -1
    const value = length < 0 ? null : Buffer.from(values, at, length)
    at += Math.max(0, length)
    return { offset, timestamp: timestamps[i] ?? -1, key: null, value, headers: [] }
  })
  return { ...batch, records }
}
