import type { TopicSchema } from '../../schemas/registry/registrar.js'
import { names } from '../../topology/names.js'
import type { Processor } from '../../topology/processor.js'

/** The Avro schemas of all topics that have one: inputs that take Avro, and the events of journals. */
export function topicSchemas(processors: readonly Processor[], applicationId: string): TopicSchema[] {
  return processors.flatMap(({ name, inputs, events }) => [
    ...inputs.flatMap(({ topic, avro }) => (avro === undefined ? [] : [{ topic, schema: avro }])),
    { topic: names.journal(applicationId, name), schema: Object.values(events) },
  ])
}
