import t from 'tap'
import { notIncluded } from './json-inclusion.js'

const object = (properties: object, required: readonly string[] = [], more: object = {}): object => ({
  type: 'object',
  properties,
  required,
  ...more,
})
const text = { type: 'string' }
const words = (...symbols: readonly (string | null)[]): object => ({ type: ['string', 'null'], enum: symbols })

const same: readonly (readonly [what: string, wider: object, narrower: object])[] = [
  ['annotations', { ...text, title: 'A' }, { ...text, description: 'b', format: 'date' }],
  ['fewer words', words('a', 'b'), words('a')],
  ['a whole number for a number', { type: 'number' }, { type: 'integer' }],
  ['one type of several', { type: ['string', 'integer'] }, text],
  ['anything', {}, object({ a: text })],
  ['a member more, of an open object', object({ a: text }, ['a']), object({ a: text, b: text }, ['a', 'b'])],
  ['a member that is always there', object({ a: text }), object({ a: text }, ['a'])],
  ['a member that is never there', object({ a: text, b: text }), object({ a: text })],
  ['tighter bounds', { ...text, maxLength: 9 }, { ...text, minLength: 1, maxLength: 5 }],
  ['one of the alternatives', { anyOf: [text, object({})] }, object({ a: text })],
  ['the same alternatives in another order', { anyOf: [text, object({})] }, { anyOf: [object({}), text] }],
  ['items', { type: 'array', items: words('a', 'b') }, { type: 'array', items: words('b') }],
]

for (const [what, wider, narrower] of same) {
  t.test(`${what}: included`, async (t) => t.equal(notIncluded(wider, narrower), undefined))
}

const others: readonly (readonly [reason: string, wider: object, narrower: object])[] = [
  ['the value may be of type string', { type: 'integer' }, text],
  ['the value may be of any type', text, {}],
  ['the value may be c', words('a', 'b'), words('a', 'c')],
  ['the value may be any word', words('a'), text],
  ['the value may lack a', object({ a: text }, ['a']), object({ a: text })],
  ['the value may have b', object({ a: text }, [], { additionalProperties: false }), object({ b: text })],
  ['the value may have other members', object({}, [], { additionalProperties: false }), object({})],
  ['a may be of type integer', object({ a: text }), object({ a: { type: 'integer' } })],
  ['a.b may be of type integer', object({ a: object({ b: text }) }), object({ a: object({ b: { type: 'integer' } }) })],
  ['the value may exceed maxLength 5', { ...text, maxLength: 5 }, { ...text, maxLength: 9 }],
  ['the value may exceed minimum 0', { type: 'integer', minimum: 0 }, { type: 'integer' }],
  ['each of the value may be b', { type: 'array', items: words('a') }, { type: 'array', items: words('b') }],
  ['each of the value is declared otherwise', { type: 'array', items: text }, { type: 'array' }],
  ['the value may be of type integer', { anyOf: [text] }, { anyOf: [text, { type: 'integer' }] }],
  [
    'the value may lack a',
    { anyOf: [object({ a: text }, ['a'], { title: 'A' }), object({}, [], { title: 'B' })] },
    { anyOf: [object({}, [], { title: 'A' })] },
  ],
  ['pattern of the value is not the same', { ...text, pattern: '^a' }, { ...text, pattern: '^b' }],
]

for (const [reason, wider, narrower] of others) {
  t.test(`not included: ${reason}`, async (t) => t.equal(notIncluded(wider, narrower), reason))
}
