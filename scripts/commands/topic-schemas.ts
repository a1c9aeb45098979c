import type { JsonSchema } from '../../schemas/json-schema.js'
import type { TopicSchema } from '../../schemas/registry/registrar.js'
import { names } from '../../topology/names.js'
import type { Input, Processor } from '../../topology/processor.js'
import { sealJson } from '../../topology/task/seal.js'

/**
 * The schemas of all topics that have one: inputs and outputs, the events of journals and the seals of their digests. Subjects
 * are `<topic>-value`; JSON on a topic that takes Avro as well has `<topic>-<title>`, since a subject has one format
 * (Confluent's TopicNameStrategy and TopicRecordNameStrategy).
 */
export function topicSchemas(processors: readonly Processor[], applicationId: string): TopicSchema[] {
  return processors.flatMap(({ name, store, inputs, events, outputs }) => [
    ...inputs.flatMap(inputSchemas),
    avroOf(names.journal(applicationId, name), Object.values(events)),
    ...outputs.flatMap(({ topic, json }) => (json === undefined ? [] : [jsonOf(`${topic}-value`, json, 'written')])),
    jsonOf(`${names.digests(applicationId, store)}-value`, sealJson, 'written'),
  ])
}

function inputSchemas({ topic, avro, json }: Input): TopicSchema[] {
  const schemas = avro === undefined ? [] : [avroOf(topic, avro)]
  if (json === undefined) return schemas
  return [...schemas, jsonOf(`${topic}-${avro === undefined ? 'value' : json.title}`, json, 'read')]
}

function avroOf(topic: string, schema: unknown): TopicSchema {
  return { subject: `${topic}-value`, format: 'AVRO', schema, direction: 'read' }
}

function jsonOf(subject: string, schema: JsonSchema, direction: TopicSchema['direction']): TopicSchema {
  return { subject, format: 'JSON', schema, direction }
}
