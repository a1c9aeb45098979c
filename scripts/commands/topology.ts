import { Option } from 'commander'
import type { Command } from 'commander'
import { loadSettings } from '../../common/settings.js'
import { describeJson, describeMermaid, describeText } from '../../topology/describe.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { projectDirectory } from '../project-directory.js'

const forms = { text: describeText, json: describeAsJsonText, mermaid: describeMermaid }

/** Adds `topology`: what the processors make of topics by these settings; nothing needs to run for it. */
export function registerTopology(program: Command): void {
  program
    .command('topology')
    .description("print the topology: text as Kafka Streams' describe, JSON, or Mermaid; takes the flags of `start`")
    .addOption(new Option('--format <form>', 'how to print it').choices(Object.keys(forms)).default('text'))
    .allowUnknownOption()
    .allowExcessArguments()
    .action(({ format }: { format: keyof typeof forms }, command: Command) => {
      const { settings } = loadSettings({ flags: command.args, environment: process.env, projectDirectory })
      console.log(forms[format](declaredProcessors(settings), settings.applicationId).trimEnd())
    })
}

function describeAsJsonText(...input: Parameters<typeof describeJson>): string {
  return JSON.stringify(describeJson(...input), null, 2)
}
