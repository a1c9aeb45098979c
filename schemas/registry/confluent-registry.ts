import { SchemaRegistry as Client } from '@kafkajs/confluent-schema-registry'
import avsc from 'avsc'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../common/clock.js'
import { cut, ensureError } from '../../common/errors.js'
import type { AvroRecordSchema } from '../avro.js'
import { refuse } from '../input-errors.js'
import type { InputErrorCode, InputResult } from '../input-errors.js'
import { avroReader } from './avro-reader.js'
import type { AvroReader } from './avro-reader.js'
import { bigintLongs } from './bigint-long.js'
import { SchemaRegistryError } from './errors.js'
import type { SchemaRegistry } from './schema-registry.js'

/** Schema ids kept: far more than a topic has. */
const KEPT_SCHEMAS = 1000
/** An id that cannot be read is not asked for again before. */
const ASK_AGAIN_MS = 10_000
const REQUEST_TIMEOUT_MS = 5_000
const CLIENT_ID = 'pulsefold'

type Known =
  | { readonly kind: 'schema'; readonly writer: avsc.Type; readonly readers: Map<AvroRecordSchema, AvroReader> }
  | { readonly kind: 'refused'; readonly code: InputErrorCode; readonly message: string; readonly askAgainAt: number }

/**
 * The registry at `url` (Confluent's API; user and password may stand in the address). Each id is asked for once, an id that
 * is unknown or cannot be read at most once in 10 s; what is known goes on working while the registry is away.
 */
export function confluentRegistry(url: string, clock: Clock): SchemaRegistry {
  const known = new LRUCache<number, Known>({ max: KEPT_SCHEMAS })
  const asked = new Map<number, Promise<Known>>()
  const client = new Client(
    { host: url, clientId: CLIENT_ID, retry: { retries: 0 }, middlewares: [timeLimit, registryAnswers] },
    { AVRO: { ...bigintLongs, omitRecordMethods: true } },
  )

  const fetch = async (id: number): Promise<Known> => {
    try {
      const writer: unknown = await client.getSchema(id)
      // The client keeps every schema for ever; what is needed is kept here.
      client.cache.clear()
      if (writer instanceof avsc.Type) return { kind: 'schema', writer, readers: new Map() }
      return refused('UNSUPPORTED_SCHEMA', `schema ${id} is not Avro`, clock)
    } catch (error) {
      return refusedBy(ensureError(error), id, clock)
    }
  }

  const ask = (id: number): Promise<Known> => {
    const under = asked.get(id)
    if (under !== undefined) return under
    const answer = fetch(id)
      .then((found) => {
        known.set(id, found)
        return found
      })
      .finally(() => asked.delete(id))
    asked.set(id, answer)
    return answer
  }

  return {
    decode(value, reader) {
      if (value.length < 5 || value[0] !== 0) {
        return refuse('NOT_SCHEMA_FRAMED', 'the value does not begin with byte 0 and a 4-byte schema id')
      }
      const id = value.readUInt32BE(1)
      const body = value.subarray(5)
      const found = known.get(id)
      if (found === undefined || (found.kind === 'refused' && found.askAgainAt <= clock.monotonic())) {
        return ask(id).then((answer) => read(answer, body, reader))
      }
      return read(found, body, reader)
    },
  }
}

function read(known: Known, body: Buffer, schema: AvroRecordSchema): InputResult<unknown> {
  if (known.kind === 'refused') return refuse(known.code, known.message)
  let reader = known.readers.get(schema)
  if (reader === undefined) {
    reader = avroReader(known.writer, schema)
    known.readers.set(schema, reader)
  }
  return reader(body)
}

function refused(code: InputErrorCode, message: string, clock: Clock): Known {
  return { kind: 'refused', code, message, askAgainAt: clock.monotonic() + ASK_AGAIN_MS }
}

/**
 * The client tells everything that it did not get as an error with an HTTP status, a refused connection or a time-out too:
 * that is a 400. So only a 404 says something about the id, and that only if it is not some other server's page.
 */
function refusedBy(error: Error, id: number, clock: Clock): Known {
  if (error instanceof SchemaRegistryError) throw error
  const status: unknown = 'status' in error ? error.status : undefined
  if (status === undefined) {
    return refused('UNSUPPORTED_SCHEMA', `schema ${id} cannot be used: ${cut(error.message, 160)}`, clock)
  }
  const isPage =
    error.message.startsWith(`${CLIENT_ID} - Error, status 404: `) && !error.message.endsWith('[object Object]')
  if (status === 404 && !isPage) {
    return refused('UNKNOWN_SCHEMA_ID', `the registry does not know schema ${id}, or one that it refers to`, clock)
  }
  throw unavailable(`the registry did not answer for schema ${id}: ${cut(error.message, 160)}`)
}

function unavailable(message: string): SchemaRegistryError {
  return new SchemaRegistryError('REGISTRY_UNAVAILABLE', message)
}

type Middleware = NonNullable<ConstructorParameters<typeof Client>[0]['middlewares']>[number]

const timeLimit: Middleware = () => ({
  prepareRequest: async (next) => (await next()).enhance({ timeout: REQUEST_TIMEOUT_MS }),
})

/** A proxy's page with status 200 or 3xx is no schema, and no fault of the record. */
const registryAnswers: Middleware = () => ({
  async response(next) {
    const response = await next()
    const answer: unknown = response.data()
    if (typeof answer === 'object' && answer !== null && 'schema' in answer && typeof answer.schema === 'string') {
      return response
    }
    throw unavailable(`what answered with status ${response.status()} is no schema registry`)
  },
})
