import type { Command } from 'commander'
import { loadSettings } from '../../common/settings.js'
import { describeFlags, printSettings } from '../../common/settings-text.js'
import { projectDirectory } from '../project-directory.js'

/** Adds `settings`: what a start with the same flags would run with, and where each value comes from. */
export function registerSettings(program: Command): void {
  program
    .command('settings')
    .description(
      'print all settings, where each comes from, and all that is wrong with them; takes the flags of `start`',
    )
    .addHelpText('after', () => `\nFlags:\n${describeFlags()}`)
    .allowUnknownOption()
    .allowExcessArguments()
    .action((_options: unknown, command: Command) => {
      console.log(printSettings(loadSettings({ flags: command.args, environment: process.env, projectDirectory })))
    })
}
