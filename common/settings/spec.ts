interface CommonSpec {
  readonly description: string
  /** Of numbers: `ms`, `bytes`; absent: a plain number. */
  readonly unit?: 'ms' | 'bytes'
  /** Shown as `***` wherever settings are shown. */
  readonly secret?: true
  /** What a right value is, for fault texts; by default told from type and bounds. */
  readonly expected?: string
}

/** A setting as JSON Schema, with the annotations of `CommonSpec`. */
export type SettingSpec = CommonSpec &
  (
    | { readonly type: 'integer'; readonly default: number; readonly minimum: number; readonly maximum: number }
    | { readonly type: 'boolean'; readonly default: boolean }
    | {
        readonly type: 'string'
        readonly default: string
        readonly enum?: readonly string[]
        readonly pattern?: string
        readonly maxLength?: number
      }
    | {
        readonly type: 'array'
        readonly default: readonly string[]
        readonly items: { readonly type: 'string'; readonly pattern: string }
        readonly minItems?: number
        readonly uniqueItems?: true
      }
  )

export const dayMs = 24 * 60 * 60 * 1000
export const longestMs = 10 * 365 * dayMs
export const mebibyte = 1024 * 1024

// Kafka's own rule for topic names; an application id is the front part of one.
export const topicPattern = '^(?!\\.{1,2}$)[A-Za-z0-9._-]+$'
export const httpAddress = {
  type: 'string',
  default: '',
  pattern: '^(https?://[^\\s/?#@]+(/[^\\s?#]*)?)?$',
  expected: 'an http or https address without credentials, or empty',
} as const
export const pemFile = {
  type: 'string',
  default: '',
  expected: 'the path of a PEM file, or empty',
} as const
export const basePath = {
  type: 'string',
  pattern: '^(/[A-Za-z0-9._~-]+)+$',
  expected: 'a path that begins with / and does not end with /',
} as const
