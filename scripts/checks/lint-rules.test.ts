import { join } from 'node:path'
import { ESLint } from 'eslint'
import t from 'tap'
import tseslint from 'typescript-eslint'
import { projectDirectory } from '../project-directory.js'

// Without type information, so that the sources need not be files of the project.
const eslint = new ESLint({
  cwd: projectDirectory,
  overrideConfig: [{ files: ['**/*.ts'], ...(tseslint.configs.disableTypeChecked as object) }],
})

/** The rules that each of the lines breaks when together they stand at `path`. */
async function broken(path: string, lines: readonly string[]): Promise<(string | null)[][]> {
  const [result] = await eslint.lintText(lines.join('\n') + '\n', { filePath: join(projectDirectory, path) })
  return lines.map((_, index) =>
    result!.messages.filter((message) => message.line === index + 1).map((message) => message.ruleId),
  )
}

const impure = [
  { line: 'export const a1 = Date.now()', rule: 'no-restricted-globals' },
  { line: 'export const a2 = new Date(0)', rule: 'no-restricted-globals' },
  { line: 'export const a3 = performance.now()', rule: 'no-restricted-globals' },
  { line: 'export const a4 = globalThis.Date.now()', rule: 'no-restricted-globals' },
  { line: 'setTimeout(() => undefined, 1)', rule: 'no-restricted-globals' },
  { line: 'queueMicrotask(() => undefined)', rule: 'no-restricted-globals' },
  { line: 'export const a5 = crypto.randomUUID()', rule: 'no-restricted-globals' },
  { line: 'export const a6 = fetch("http://x")', rule: 'no-restricted-globals' },
  { line: 'export const a7 = process.env.NAME', rule: 'no-restricted-globals' },
  { line: 'console.log(1)', rule: 'no-restricted-globals' },
  { line: 'export const a8 = new Intl.NumberFormat()', rule: 'no-restricted-globals' },
  { line: 'export const a9 = Math.random()', rule: 'no-restricted-properties' },
  { line: 'export const b1 = "a".localeCompare("b")', rule: 'no-restricted-properties' },
  { line: 'export const b2 = (1).toLocaleString()', rule: 'no-restricted-properties' },
  { line: 'export const b3 = await import("./b.js")', rule: 'no-restricted-syntax' },
  { line: 'export { readFileSync } from "node:fs"', rule: 'no-restricted-imports' },
  { line: 'export { writeFileSync } from "fs"', rule: 'no-restricted-imports' },
  { line: 'export { v4 } from "uuid"', rule: 'no-restricted-imports' },
  { line: 'export { pino } from "pino"', rule: 'no-restricted-imports' },
  { line: 'export { systemClock } from "../../common/clock.js"', rule: 'no-restricted-imports' },
  { line: 'export { createLogger } from "../../common/logger.js"', rule: 'no-restricted-imports' },
]
t.test('a fold reads no clock, no chance, no surroundings', async (t) => {
  const lines = impure.map(({ line }) => line)
  const found = await broken('processors/x/fold.ts', lines)
  for (const [index, { line, rule }] of impure.entries()) t.ok(found[index]!.includes(rule), line)
})

const allowed = [
  {
    path: 'processors/x/fold.ts',
    lines: [
      'export { cut } from "../../common/errors.js"',
      'export type { Processor } from "../../topology/processor.js"',
      'export const most = Math.max(1, 2)',
    ],
  },
  { path: 'processors/x/effects/y.ts', lines: ['export { Client } from "undici"', 'export const at = Date.now()'] },
  { path: 'processors/x/fold.test.ts', lines: ['export { default as t } from "tap"', 'export const at = Date.now()'] },
]
for (const { path, lines } of allowed) {
  t.test(`${path} may contain what it needs`, async (t) => {
    t.same((await broken(path, lines)).flat(), [])
  })
}

const folders = ['common', 'schemas', 'state-stores', 'topology', 'processors', 'api', 'scripts']
const mayImport = (from: string, to: string) =>
  folders.indexOf(from) >= folders.indexOf(to) && !(from === 'state-stores' && to === 'schemas')
for (const from of folders) {
  t.test(`${from} imports only what is below it`, async (t) => {
    const expected = folders.map((to) => (mayImport(from, to) ? [] : ['no-restricted-imports']))
    for (const [path, rest] of [
      ['y.ts', '../TO/z.js'],
      ['x/y.ts', '../../TO/z.js'],
      ['y.test.ts', '../TO/x/z.js'],
    ] as const) {
      const lines = folders.map((to) => `export * from "${rest.replace('TO', to)}"`)
      t.same(await broken(`${from}/${path}`, lines), expected, path)
    }
  })
}

const drivers = [
  { name: 'rocksdb', home: 'state-stores' },
  { name: '@kafkajs/confluent-schema-registry', home: 'schemas' },
  { name: 'fastify', home: 'api' },
  { name: 'kafkajs', home: 'topology/log/kafka' },
]
for (const folder of [...folders, 'topology/log/kafka']) {
  t.test(`${folder} imports no driver that lives elsewhere`, async (t) => {
    const packages = await broken(
      `${folder}/y.test.ts`,
      drivers.map(({ name }) => `export * from "${name}"`),
    )
    for (const [index, { name, home }] of drivers.entries()) {
      t.same(packages[index], folder === home ? [] : ['no-restricted-imports'], name)
    }
    const files = drivers.map(({ name }) => `export * from "./${name}.js"`)
    t.same((await broken(`${folder}/y.ts`, files)).flat(), [], 'files of these names are free')
  })
}

const careless = [
  { line: 'console.log(1)', rule: 'no-console' },
  { line: 'export const same = (a: number, b: number): boolean => a == b', rule: 'eqeqeq' },
  { line: 'export const f = (x: any): unknown => x', rule: '@typescript-eslint/no-explicit-any' },
  { line: '// @ts-ignore', rule: '@typescript-eslint/ban-ts-comment' },
]
t.test('careless lines are found', async (t) => {
  const lines = careless.map(({ line }) => line)
  const found = await broken('topology/y.ts', lines)
  for (const [index, { line, rule }] of careless.entries()) t.ok(found[index]!.includes(rule), line)
})

t.test('a promise that nobody waits for is found, with the types at hand', async (t) => {
  const typed = new ESLint({ cwd: projectDirectory })
  const filePath = join(projectDirectory, 'scripts/docs.ts')
  const [result] = await typed.lintText('Promise.resolve(1)\n', { filePath })
  t.same(
    result!.messages.map((message) => message.ruleId),
    ['@typescript-eslint/no-floating-promises'],
  )
})
