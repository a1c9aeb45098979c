import { isDeepStrictEqual } from 'node:util'
import { request } from 'undici'
import { cut, ensureError } from '../../common/errors.js'
import { avroType } from '../avro.js'
import { SchemaRegistryError } from './errors.js'
import { notIncluded } from './json-inclusion.js'

/** A schema of a topic's values, and the subject that it is registered as. */
export interface TopicSchema {
  readonly subject: string
  readonly format: 'AVRO' | 'JSON'
  readonly schema: unknown
  /** Values are written by others and read by us, or by us and read by others; a journal is read by us. */
  readonly direction: 'read' | 'written'
}

/** How a schema stands to the newest one that the registry has of its subject. */
export type SchemaStanding =
  | { readonly kind: 'new' }
  /**
   * What was written by the registered one can be read by ours; of topics that we write in JSON what we write can be read by
   * those who know the registered one. `version` is the registered one's.
   */
  | { readonly kind: 'same' | 'compatible'; readonly version: number }
  | { readonly kind: 'incompatible'; readonly version: number; readonly reason: string }

export interface Registrar {
  check(of: TopicSchema): Promise<SchemaStanding>
  /** Answers the id. Check it before. Errors: SCHEMA_REFUSED by a rule of the registry. */
  register(of: TopicSchema): Promise<number>
}

const mediaType = 'application/vnd.schemaregistry.v1+json'
/** What a registry answers to a schema that its rules forbid, or that it cannot parse. */
const REFUSALS: readonly number[] = [409, 422]

/** Writes to the registry at `url` (Confluent's API). Errors: REGISTRY_UNAVAILABLE. */
export function registrar(url: string): Registrar {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> => {
    const failed = (code: 'REGISTRY_UNAVAILABLE' | 'SCHEMA_REFUSED', why: string, cause?: unknown): Error =>
      new SchemaRegistryError(code, `the registry did not take ${method} ${path}: ${why}`, { cause })
    try {
      const answer = await request(`${url.replace(/\/$/, '')}${path}`, {
        method,
        headers: { accept: mediaType, ...(body !== undefined && { 'content-type': mediaType }) },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await answer.body.text()
      if (answer.statusCode === 200 || answer.statusCode === 404) {
        return { status: answer.statusCode, body: JSON.parse(text) as Answer['body'] }
      }
      const why = `status ${answer.statusCode}: ${cut(text, 300)}`
      throw failed(REFUSALS.includes(answer.statusCode) ? 'SCHEMA_REFUSED' : 'REGISTRY_UNAVAILABLE', why)
    } catch (error) {
      if (error instanceof SchemaRegistryError) throw error
      throw failed('REGISTRY_UNAVAILABLE', ensureError(error).message, error)
    }
  }
  const versionsOf = ({ subject }: TopicSchema): string => `/subjects/${encodeURIComponent(subject)}/versions`

  return {
    async check(of) {
      const { status, body } = await ask('GET', `${versionsOf(of)}/latest`)
      if (status === 404) return { kind: 'new' }
      const { schema = 'null', schemaType = 'AVRO', version = 0 } = body
      if (schemaType !== of.format) return { kind: 'incompatible', version, reason: `that is in ${cut(schemaType)}` }
      const registered: unknown = JSON.parse(schema)
      const reason = of.format === 'AVRO' ? unreadable(of.schema, registered) : outsideOf(of, registered)
      if (reason !== undefined) return { kind: 'incompatible', version, reason: cut(reason, 200) }
      return { kind: isDeepStrictEqual(of.schema, registered) ? 'same' : 'compatible', version }
    },
    async register(of) {
      const schema = JSON.stringify(of.schema)
      // Registries that know nothing but Avro do not know the member.
      const body = of.format === 'AVRO' ? { schema } : { schema, schemaType: of.format }
      const answer = await ask('POST', versionsOf(of), body)
      if (answer.body.id !== undefined) return answer.body.id
      throw new SchemaRegistryError('REGISTRY_UNAVAILABLE', `the registry gave no id for ${of.subject}`)
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: {
    readonly id?: number
    readonly version?: number
    readonly schema?: string
    readonly schemaType?: string
  }
}

function unreadable(reader: unknown, writer: unknown): string | undefined {
  try {
    avroType(reader).createResolver(avroType(writer))
    return undefined
  } catch (error) {
    return ensureError(error).message
  }
}

function outsideOf({ schema, direction }: TopicSchema, registered: unknown): string | undefined {
  return direction === 'read' ? notIncluded(schema, registered) : notIncluded(registered, schema)
}
