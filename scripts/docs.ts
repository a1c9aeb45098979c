import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentedFiles, withGeneratedBlocks } from './generated-blocks.js'
import { projectDirectory } from './project-directory.js'

for (const file of documentedFiles) {
  const path = join(projectDirectory, file)
  writeFileSync(path, withGeneratedBlocks(readFileSync(path, 'utf8')))
}
