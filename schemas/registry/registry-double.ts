import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import avsc from 'avsc'

/** A schema registry for tests: the part of Confluent's API that reads schemas by id, on a free loopback port. */
export interface RegistryDouble {
  readonly url: string
  /** How often each id was asked for. */
  readonly requests: ReadonlyMap<number, number>
  /** Makes `schema` known as `id`. */
  register(id: number, schema: unknown, schemaType?: string): void
  /** Answers for `id` with this instead. */
  answer(id: number, status: number, body: string): void
  /** Refuses connections from now on. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  start(): Promise<void>
}

export async function registryDouble(): Promise<RegistryDouble> {
  const answers = new Map<number, { readonly status: number; readonly body: string }>()
  const requests = new Map<number, number>()
  const server = createServer((request, response) => {
    const id = Number(/^\/schemas\/ids\/(\d+)$/.exec(request.url ?? '')?.[1])
    requests.set(id, (requests.get(id) ?? 0) + 1)
    const unknown = JSON.stringify({ error_code: 40403, message: `Schema ${id} not found` })
    const { status, body } = answers.get(id) ?? { status: 404, body: unknown }
    response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' }).end(body)
  })
  let port = 0
  const start = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    register(id, schema, schemaType) {
      answers.set(id, { status: 200, body: JSON.stringify({ schema: JSON.stringify(schema), schemaType }) })
    },
    answer: (id, status, body) => answers.set(id, { status, body }),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    start,
  }
}

/** A value in the wire format, written with `schema`. */
export function framed(id: number, schema: unknown, value: unknown): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(id, 1)
  return Buffer.concat([head, avsc.Type.forSchema(schema as avsc.Schema).toBuffer(value)])
}

/** Avro's long: zigzag, seven bits a byte. */
export function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}
