import { partitionOf } from '../partitioner.js'
import { exactRecordBytes, recordBytes } from './record-bytes.js'
import { sendableHeaders } from './sendable-headers.js'
import type { InputRecord } from '../processor.js'
import type { Headers, NewRecord } from '../log/log.js'

/** What went wrong with a record, and where the record stands. */
export interface DeadLetter {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly code: string
  readonly message: string
}

/** Larger originals go in short form: a dead letter must always be sendable. */
const MAX_ORIGINAL_BYTES = 512 * 1024
const SHORT_FORM_BYTES = 4096
const MAX_MESSAGE_CHARACTERS = 2000

const header = (name: string, value: string | number): readonly [string, Buffer] => [name, Buffer.from(String(value))]

/**
 * The dead letter of a record: key, value and headers as they came, plus Kafka Streams' own headers
 * `__streams.errors.topic`, `.partition`, `.offset`, `.exception` (our code), `.message`. These name the source position,
 * by which a repeat can be told; it also picks the partition. A header that cannot be sent again is dropped and named in
 * `__pulsefold.dropped-headers`; an original over 512 KiB is cut to its first 4 KiB, with its size in
 * `__pulsefold.short-form`.
 */
export function deadLetterRecord(letter: DeadLetter, original: InputRecord): NewRecord {
  const { headers, dropped } = sendableHeaders(original.headers)
  const short = recordBytes(original) > MAX_ORIGINAL_BYTES
  const errors: Headers = [
    header('__streams.errors.topic', letter.topic),
    header('__streams.errors.partition', letter.partition),
    header('__streams.errors.offset', letter.offset),
    header('__streams.errors.exception', letter.code),
    header('__streams.errors.message', letter.message.slice(0, MAX_MESSAGE_CHARACTERS)),
    ...(dropped.length > 0 ? [header('__pulsefold.dropped-headers', [...new Set(dropped)].join(' '))] : []),
    ...(short ? [header('__pulsefold.short-form', exactRecordBytes(original))] : []),
  ]
  return {
    key: short ? (original.key?.subarray(0, SHORT_FORM_BYTES) ?? null) : original.key,
    value: short ? (original.value?.subarray(0, SHORT_FORM_BYTES) ?? null) : original.value,
    headers: [...(short ? headers.filter(isShort).slice(0, 64) : headers), ...errors],
  }
}

/** The dead-letter topic's partition: all about one source position in one place. */
export function deadLetterPartition(letter: DeadLetter, partitions: number): number {
  return partitionOf(`${letter.topic}/${letter.partition}/${letter.offset}`, partitions)
}

function isShort([name, value]: Headers[number]): boolean {
  return name.length + value.length <= SHORT_FORM_BYTES
}
