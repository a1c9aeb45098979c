import type { Command } from 'commander'
import { listErrors } from '../error-tables.js'

/** Adds `errors`. */
export function registerErrors(program: Command): void {
  program
    .command('errors')
    .description('list all error codes with what to do about each')
    .action(() => {
      console.log(listErrors())
    })
}
