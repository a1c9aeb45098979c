import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { ErrorTable } from '../common/errors.js'
import { errorsTable, errorTables, listErrors } from './error-tables.js'

const compiled = join(import.meta.dirname, '..')

/** The families that the source files export, found by what they look like. */
async function exportedTables(): Promise<[name: string, table: ErrorTable][]> {
  const files = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(^|[/-])(errors|faults)\.js$/.test(path),
  )
  const tables: [string, ErrorTable][] = []
  for (const file of files) {
    const module = (await import(pathToFileURL(join(compiled, file)).href)) as Record<string, unknown>
    for (const [name, value] of Object.entries(module)) {
      if (/Errors$/.test(name) && typeof value === 'object') tables.push([`${file} ${name}`, value as ErrorTable])
    }
  }
  return tables
}

t.test('each family that a file exports is listed', async (t) => {
  const listed = new Set(errorTables.map(({ table }) => table))
  const exported = await exportedTables()
  t.ok(exported.length >= errorTables.length)
  for (const [name, table] of exported) t.ok(listed.has(table), name)
})

t.test('codes are unique over all families, and each says what to do', async (t) => {
  const codes = errorTables.flatMap(({ table }) => Object.entries(table))
  t.equal(new Set(codes.map(([code]) => code)).size, codes.length)
  for (const [code, { action }] of codes) {
    t.match(code, /^[A-Z][A-Z0-9_]+$/)
    t.match(action, /^[A-Z`].*\.$/, `the action of ${code} is a sentence`)
  }
})

t.test('list and table name every code', async (t) => {
  for (const { table } of errorTables) {
    for (const code of Object.keys(table)) {
      t.match(listErrors(), `  ${code}`)
      t.match(errorsTable(), `| \`${code}\` |`)
    }
  }
  t.match(listErrors(), 'STOPPING (503, retryable)')
})
