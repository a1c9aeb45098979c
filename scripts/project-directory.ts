import { join } from 'node:path'

/** The folder of this project, seen from where this file is compiled to. */
export const projectDirectory = join(import.meta.dirname, '../..')
