import type { Headers, LogRecord } from '../log/log.js'
import type { DeadLetter } from './dead-letters.js'

/** A dead letter as it is read back. */
export interface ReadDeadLetter extends DeadLetter {
  /** Size of the original, of which only the beginning is kept; undefined: it is whole. */
  readonly shortForm: number | undefined
  /** Of the original, as far as they could be kept. */
  readonly headers: Headers
}

const errorPrefix = '__streams.errors.'
const ownPrefix = '__pulsefold.'

/** Undefined for a record that is no dead letter of ours. */
export function readDeadLetter({ headers }: LogRecord): ReadDeadLetter | undefined {
  const text = (name: string): string | undefined => headers.findLast(([other]) => other === name)?.[1].toString()
  const [topic, partition, offset, code] = ['topic', 'partition', 'offset', 'exception'].map((name) =>
    text(`${errorPrefix}${name}`),
  )
  if (topic === undefined || partition === undefined || offset === undefined || code === undefined) return undefined
  const shortForm = text(`${ownPrefix}short-form`)
  return {
    topic,
    partition: Number(partition),
    offset: Number(offset),
    code,
    message: text(`${errorPrefix}message`) ?? '',
    shortForm: shortForm === undefined ? undefined : Number(shortForm),
    headers: headers.filter(([name]) => !name.startsWith(errorPrefix) && !name.startsWith(ownPrefix)),
  }
}
