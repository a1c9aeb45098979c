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

/** The rules that a source breaks when it stands at `path`. */
async function broken(path: string, source: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(`${source}\n`, { filePath: join(projectDirectory, path) })
  return [...new Set(result!.messages.map((message) => message.ruleId))]
}

const fold = 'processors/x/fold.ts'

const impure = [
  { source: 'export const at = Date.now()', rule: 'no-restricted-globals' },
  { source: 'export const at = new Date(0)', rule: 'no-restricted-globals' },
  { source: 'export const at = performance.now()', rule: 'no-restricted-globals' },
  { source: 'export const at = globalThis.Date.now()', rule: 'no-restricted-globals' },
  { source: 'setTimeout(() => undefined, 1)', rule: 'no-restricted-globals' },
  { source: 'queueMicrotask(() => undefined)', rule: 'no-restricted-globals' },
  { source: 'export const id = crypto.randomUUID()', rule: 'no-restricted-globals' },
  { source: 'export const got = fetch("http://x")', rule: 'no-restricted-globals' },
  { source: 'export const name = process.env.NAME', rule: 'no-restricted-globals' },
  { source: 'console.log(1)', rule: 'no-restricted-globals' },
  { source: 'export const text = new Intl.NumberFormat()', rule: 'no-restricted-globals' },
  { source: 'export const chance = Math.random()', rule: 'no-restricted-properties' },
  { source: 'export const order = "a".localeCompare("b")', rule: 'no-restricted-properties' },
  { source: 'export const text = (1).toLocaleString()', rule: 'no-restricted-properties' },
  { source: 'export const fs = await import("./fs.js")', rule: 'no-restricted-syntax' },
  { source: 'import { readFileSync } from "node:fs"\nreadFileSync("x")', rule: 'no-restricted-imports' },
  { source: 'import { readFileSync } from "fs"\nreadFileSync("x")', rule: 'no-restricted-imports' },
  { source: 'export { v4 } from "uuid"', rule: 'no-restricted-imports' },
  { source: 'export { pino } from "pino"', rule: 'no-restricted-imports' },
  { source: 'export { systemClock } from "../../common/clock.js"', rule: 'no-restricted-imports' },
  { source: 'export { createLogger } from "../../common/logger.js"', rule: 'no-restricted-imports' },
]
for (const { source, rule } of impure) {
  t.test(`a fold must not contain: ${source.replace(/\n.*/, '')}`, async (t) => {
    t.ok((await broken(fold, source)).includes(rule))
  })
}

const pure = [
  { path: fold, source: 'export { cut } from "../../common/errors.js"\nexport const most = Math.max(1, 2)' },
  { path: fold, source: 'export type { Processor } from "../../topology/processor.js"' },
  { path: 'processors/x/effects/check.ts', source: 'export { Client } from "undici"\nexport const at = Date.now()' },
  { path: 'processors/x/fold.test.ts', source: 'export { default as t } from "tap"' },
]
for (const { path, source } of pure) {
  t.test(`${path} may contain: ${source.replace(/\n.*/, '')}`, async (t) => {
    t.same(await broken(path, source), [])
  })
}

const order = ['common', 'schemas', 'state-stores', 'topology', 'processors', 'api', 'scripts']
const mayImport = (from: string, to: string) =>
  order.indexOf(from) >= order.indexOf(to) && !(from === 'state-stores' && to === 'schemas')
for (const from of order) {
  t.test(`${from} imports only what is below it`, async (t) => {
    for (const to of order) {
      const expected = mayImport(from, to) ? [] : ['no-restricted-imports']
      t.same(await broken(`${from}/x/y.ts`, `export * from "../../${to}/x/z.js"`), expected, `${from} -> ${to}, deep`)
      t.same(await broken(`${from}/y.ts`, `export * from "../${to}/z.js"`), expected, `${from} -> ${to}`)
    }
  })
}

const drivers = [
  { name: 'rocksdb', home: 'state-stores' },
  { name: '@kafkajs/confluent-schema-registry', home: 'schemas' },
  { name: 'fastify', home: 'api' },
  { name: 'kafkajs', home: 'nowhere yet' },
]
for (const { name, home } of drivers) {
  t.test(`${name} is imported in ${home} only`, async (t) => {
    for (const folder of order) {
      const expected = folder === home ? [] : ['no-restricted-imports']
      t.same(await broken(`${folder}/y.test.ts`, `export * from "${name}"`), expected, folder)
      t.same(await broken(`${folder}/y.ts`, `export * from "./${name}.js"`), [], `a file of that name in ${folder}`)
    }
  })
}

const careless = [
  { source: 'console.log(1)', rule: 'no-console' },
  { source: 'export const same = (a: number, b: number): boolean => a == b', rule: 'eqeqeq' },
  { source: 'export const f = (x: any): unknown => x', rule: '@typescript-eslint/no-explicit-any' },
  { source: '// @ts-ignore\nexport const x = 1', rule: '@typescript-eslint/ban-ts-comment' },
]
for (const { source, rule } of careless) {
  t.test(`nobody writes: ${source.replace(/\n.*/, '')}`, async (t) => {
    t.ok((await broken('topology/y.ts', source)).includes(rule))
  })
}

t.test('a promise that nobody waits for is found, with the types at hand', async (t) => {
  const typed = new ESLint({ cwd: projectDirectory })
  const filePath = join(projectDirectory, 'scripts/docs.ts')
  const [result] = await typed.lintText('Promise.resolve(1)\n', { filePath })
  t.same(
    result!.messages.map((message) => message.ruleId),
    ['@typescript-eslint/no-floating-promises'],
  )
})
