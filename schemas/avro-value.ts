import { misfit } from './avro-bytes.js'
import type { AvroReader, AvroWriter } from './avro-bytes.js'
import type { AvroRecordSchema } from './avro.js'

/** How values of one schema are written and read. Values are as avsc has them: plain, a union's too. */
export interface AvroValue<Value = unknown> {
  /** Throws where the value does not fit; what was written of it by then is left to the caller to cut off. */
  write(out: AvroWriter, value: Value): void
  /** Errors: RangeError. */
  read(from: AvroReader): Value
  /** Goes behind a value without making it. Errors: as `read`. */
  skip(from: AvroReader): void
}

type Named = Map<string, AvroValue>

/**
 * The values of a schema: null, boolean, int, long, double, string, bytes, enums, arrays, records, and unions of null and one
 * other. Throws for any other schema.
 */
export function avroValue(schema: unknown, namespace = '', named: Named = new Map()): AvroValue {
  if (typeof schema === 'string') {
    const known = primitives()[schema] ?? named.get(fullName(schema, namespace)) ?? named.get(schema)
    if (known === undefined) throw new TypeError(`there is no schema ${schema}`)
    return known
  }
  if (Array.isArray(schema)) return nullable(schema, (other) => avroValue(other, namespace, named))
  const { type, name = '', ...rest } = schema as { type: unknown; name?: string; namespace?: string; items?: unknown }
  const inner = rest.namespace ?? namespace
  if (type === 'array') return arrayOf(avroValue(rest.items, namespace, named))
  if (type === 'enum') {
    const words = enumOf(name, (schema as { symbols: readonly string[] }).symbols)
    named.set(fullName(name, inner), words)
    return words
  }
  if (type === 'record') {
    const record = recordOf({ ...(schema as AvroRecordSchema), namespace: inner }, named)
    named.set(fullName(name, inner), record)
    return record
  }
  return avroValue(type, namespace, named)
}

function fullName(name: string, namespace: string): string {
  return namespace === '' || name.includes('.') ? name : `${namespace}.${name}`
}

/** Made anew for each place, for each remembers the text that it read last. */
function primitives(): Readonly<Record<string, AvroValue>> {
  return { null: nothing, boolean: flag, int, long, double, bytes, string: text() }
}

const nothing: AvroValue = {
  write(_out, value) {
    if (value !== null) throw misfit(value, 'null')
  },
  read: () => null,
  skip: () => undefined,
}

const flag: AvroValue = {
  write(out, value) {
    if (typeof value !== 'boolean') throw misfit(value, 'boolean')
    out.byte(value ? 1 : 0)
  },
  read(from) {
    const byte = from.byte()
    if (byte > 1) throw new RangeError(`${byte} is no boolean`)
    return byte === 1
  },
  skip: (from) => void flag.read(from),
}

const int: AvroValue = {
  write(out, value) {
    if (typeof value !== 'number' || value !== (value | 0)) throw misfit(value, 'int')
    out.long(value)
  },
  read(from) {
    const value = from.long()
    if (value !== (value | 0)) throw new RangeError(`${value} is no int`)
    return value
  },
  skip: (from) => void int.read(from),
}

const long: AvroValue = {
  write(out, value) {
    if (typeof value !== 'number') throw misfit(value, 'long')
    out.long(value)
  },
  read: (from) => from.long(),
  skip: (from) => void from.long(),
}

const double: AvroValue = {
  write(out, value) {
    if (typeof value !== 'number') throw misfit(value, 'double')
    out.double(value)
  },
  read: (from) => from.double(),
  skip: (from) => void from.double(),
}

const bytes: AvroValue = {
  write(out, value) {
    if (!Buffer.isBuffer(value)) throw misfit(value, 'bytes')
    out.long(value.length)
    out.raw(value)
  },
  read: (from) => from.bytes(),
  skip: (from) => from.skipBytes(),
}

function text(): AvroValue {
  let before = ''
  return {
    write(out, value) {
      if (typeof value !== 'string') throw misfit(value, 'string')
      out.string(value)
    },
    read: (from) => (before = from.string(before)),
    skip: (from) => from.skipBytes(),
  }
}

function enumOf(name: string, symbols: readonly string[]): AvroValue {
  const read = (from: AvroReader): string => {
    const at = from.long()
    const symbol = symbols[at]
    if (symbol === undefined) throw new RangeError(`${at} is no ${name}`)
    return symbol
  }
  return {
    write(out, value) {
      const at = symbols.indexOf(value as string)
      if (at < 0) throw misfit(value, name)
      out.long(at)
    },
    read,
    skip: (from) => void read(from),
  }
}

function nullable(branches: readonly unknown[], valueOf: (schema: unknown) => AvroValue): AvroValue {
  const nullAt = branches.indexOf('null')
  if (branches.length !== 2 || nullAt < 0) throw new TypeError('a union is of null and one other')
  const other = valueOf(branches[1 - nullAt])
  const isNull = (from: AvroReader): boolean => {
    const branch = from.long()
    if (branch !== 0 && branch !== 1) throw new RangeError(`${branch} is no branch`)
    return branch === nullAt
  }
  return {
    write(out, value) {
      out.long(value === null ? nullAt : 1 - nullAt)
      if (value !== null) other.write(out, value)
    },
    read: (from) => (isNull(from) ? null : other.read(from)),
    skip(from) {
      if (!isNull(from)) other.skip(from)
    },
  }
}

function arrayOf(item: AvroValue): AvroValue {
  return {
    write(out, value) {
      if (!Array.isArray(value)) throw misfit(value, 'array')
      if (value.length > 0) out.long(value.length)
      for (const one of value) item.write(out, one)
      out.long(0)
    },
    read: (from) => from.array(() => item.read(from)),
    skip: (from) => void from.skipArray(() => item.skip(from)),
  }
}

interface Field {
  readonly name: string
  readonly value: AvroValue
  readonly default?: unknown
}

function recordOf({ name: type, fields, namespace = '' }: AvroRecordSchema, named: Named): AvroValue {
  const list = fields.map(({ name, type: ofField, default: byDefault }): Field => {
    return { name, value: avroValue(ofField, namespace, named), default: byDefault }
  })
  const empty = Object.fromEntries(fields.map(({ name }) => [name, null]))
  return {
    write(out, value) {
      if (typeof value !== 'object' || value === null) throw misfit(value, type)
      for (const field of list) {
        const member = (value as Readonly<Record<string, unknown>>)[field.name]
        field.value.write(out, member === undefined ? field.default : member)
      }
    },
    read(from) {
      // A copy of one object: all of a kind have one shape.
      const record: Record<string, unknown> = { ...empty }
      for (const { name, value } of list) record[name] = value.read(from)
      return record
    },
    skip(from) {
      for (const { value } of list) value.skip(from)
    },
  }
}
