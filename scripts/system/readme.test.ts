import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectDirectory } from '../project-directory.js'

const read = (path: string): string => readFileSync(join(projectDirectory, path), 'utf8')

t.test('each case of the table has a test of that name in each file beside it', async (t) => {
  const rows = [...read('scripts/system/README.md').matchAll(/^\| ([A-Z]{2}-\d{2}) \| (.+) \|$/gm)]
  t.ok(rows.length > 0)
  for (const [, id = '', text = ''] of rows) {
    const files = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file = '']) => file)
    t.ok(files.length > 0 || text.includes('needs'), `${id} has a test, or says what it needs`)
    for (const file of files)
      t.ok(existsSync(join(projectDirectory, file)) && read(file).includes(id), `${id} in ${file}`)
  }
})
