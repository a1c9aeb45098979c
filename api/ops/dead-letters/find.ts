import { readDeadLetter } from '../../../topology/ingest/read-dead-letter.js'
import type { ReadDeadLetter } from '../../../topology/ingest/read-dead-letter.js'
import type { LogRecord } from '../../../topology/log/log.js'
import { names } from '../../../topology/names.js'
import type { Api } from '../../api.js'
import { ApiError } from '../../errors.js'
import { readBatches } from '../topic-records.js'

export interface PlaceParams {
  readonly partition: number
  readonly offset: number
}

export const placeParams = {
  type: 'object',
  properties: { partition: { type: 'integer', minimum: 0 }, offset: { type: 'integer', minimum: 0 } },
}

/** The dead letter at a place of the dead-letter topic. Errors: DEAD_LETTER_NOT_FOUND, PARAMETER_INVALID. */
export async function findDeadLetter(
  api: Api,
  { partition, offset }: PlaceParams,
): Promise<{ readonly record: LogRecord; readonly letter: ReadDeadLetter }> {
  const topic = names.deadLetters(api.applicationId)
  const [batch] = await readBatches(api.streams.log, topic, { partition, offset, limit: 1 })
  const record = batch?.records[0]
  const letter = record?.offset === offset ? readDeadLetter(record) : undefined
  if (record === undefined || letter === undefined) {
    throw new ApiError('DEAD_LETTER_NOT_FOUND', `there is no dead letter ${partition}/${offset}`)
  }
  return { record, letter }
}
