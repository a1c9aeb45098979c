import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import type { SourceView } from '../../topology/streams.js'
import { actorOption, askInstance, reasonOption, urlOption } from './operator.js'
import type { OperatorFlags } from './operator.js'

/** Adds `sources`: what an instance reads of its input topics, and the act that lets a stopped one go on. */
export function registerSources(program: Command): void {
  const sources = program.command('sources').description('partitions of input topics that an instance reads')
  sources
    .command('list')
    .description('one line a partition: where it stands, and why it is not read')
    .option(...urlOption)
    .action(async (flags: OperatorFlags) => {
      for (const source of await askInstance<SourceView[]>(flags, '/ops/sources')) console.log(lineOf(source))
    })
  sources
    .command('restart')
    .description('read a stopped partition from its log start on: all it holds counts as new')
    .argument('<topic>')
    .argument('<partition>', 'its number', wholeNumber)
    .option(...urlOption)
    .option(...actorOption)
    .requiredOption(...reasonOption)
    .action(async (topic: string, partition: number, flags: OperatorFlags) => {
      const path = `/ops/sources/${encodeURIComponent(topic)}/${partition}/restart`
      const { incarnation, from } = await askInstance<{ incarnation: string; from: number }>(flags, path, 'POST')
      console.log(`${topic}/${partition} is read from offset ${from} on, as ${topic}/${partition}@${incarnation}`)
    })
}

function lineOf({ topic, partition, position, stopped }: SourceView): string {
  return `${topic}/${partition}  ${stopped === '' ? `at offset ${position}` : `stopped: ${stopped}`}`
}

/** For an argument. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Not a whole number.')
}
