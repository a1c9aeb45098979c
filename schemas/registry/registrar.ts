import { isDeepStrictEqual } from 'node:util'
import { request } from 'undici'
import { cut, ensureError } from '../../common/errors.js'
import { avroType } from '../avro.js'
import { SchemaRegistryError } from './errors.js'

/** The values of a topic, in Avro. */
export interface TopicSchema {
  readonly topic: string
  readonly schema: unknown
}

/** How the schema of a topic stands to the newest one that the registry has of it. */
export type SchemaStanding =
  | { readonly kind: 'new' }
  /** What was written by the registered one can be read by ours; `version` is the registered one's. */
  | { readonly kind: 'same' | 'compatible'; readonly version: number }
  | { readonly kind: 'incompatible'; readonly version: number; readonly reason: string }

export interface Registrar {
  check(of: TopicSchema): Promise<SchemaStanding>
  /** Answers the id. Check it before. */
  register(of: TopicSchema): Promise<number>
}

const mediaType = 'application/vnd.schemaregistry.v1+json'

/** Writes to the registry at `url` (Confluent's API), subjects as `<topic>-value`. Errors: REGISTRY_UNAVAILABLE. */
export function registrar(url: string): Registrar {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> => {
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
      throw new Error(`status ${answer.statusCode}: ${cut(text, 300)}`)
    } catch (error) {
      const message = `the registry did not take ${method} ${path}: ${ensureError(error).message}`
      throw new SchemaRegistryError('REGISTRY_UNAVAILABLE', message, { cause: error })
    }
  }
  const subjectOf = ({ topic }: TopicSchema): string => `/subjects/${encodeURIComponent(`${topic}-value`)}`

  return {
    async check(of) {
      const { status, body } = await ask('GET', `${subjectOf(of)}/versions/latest`)
      if (status === 404) return { kind: 'new' }
      const { schema = 'null', version = 0 } = body
      return compare(of.schema, JSON.parse(schema), version)
    },
    async register(of) {
      const { body } = await ask('POST', `${subjectOf(of)}/versions`, { schema: JSON.stringify(of.schema) })
      if (body.id !== undefined) return body.id
      throw new SchemaRegistryError('REGISTRY_UNAVAILABLE', `the registry gave no id for ${of.topic}-value`)
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: { readonly id?: number; readonly version?: number; readonly schema?: string }
}

function compare(ours: unknown, registered: unknown, version: number): SchemaStanding {
  try {
    avroType(ours).createResolver(avroType(registered))
    return { kind: isDeepStrictEqual(ours, registered) ? 'same' : 'compatible', version }
  } catch (error) {
    return { kind: 'incompatible', version, reason: cut(ensureError(error).message, 200) }
  }
}
