import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { blocksIn, documentedFiles, generatedBlocks, withGeneratedBlocks } from './generated-blocks.js'
import { projectDirectory } from './project-directory.js'

const texts = documentedFiles.map((file) => ({ file, text: readFileSync(join(projectDirectory, file), 'utf8') }))

for (const { file, text } of texts) {
  t.test(`${file} is up to date (else: npm run docs)`, async (t) => {
    t.equal(withGeneratedBlocks(text), text)
  })
}

t.test('every block is in the documentation, once', async (t) => {
  t.same(texts.flatMap(({ text }) => blocksIn(text)).sort(), Object.keys(generatedBlocks).sort())
})

const marked = (name: string, content: string) =>
  `a\n<!-- prettier-ignore-start -->\n<!-- generated: ${name} -->${content}\n<!-- prettier-ignore-end -->\nb`

t.test('only what is between the marks changes, and a second time nothing', async (t) => {
  const made = withGeneratedBlocks(marked('exit codes', '\n\nformer words\n'))
  t.match(made, /^a\n/)
  t.match(made, /\nb$/)
  t.notMatch(made, 'former words')
  t.match(made, '| exit code | meaning |')
  t.equal(withGeneratedBlocks(made), made)
})

t.test('an unknown mark is an error', async (t) => {
  t.throws(() => withGeneratedBlocks(marked('poems', '\n\n')), /poems/)
})
