import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { actorOption, askInstance, reasonOption, urlOption } from './operator.js'
import type { OperatorFlags } from './operator.js'
import { wholeNumber } from './sources.js'

interface Letter {
  readonly partition: number
  readonly offset: number
  readonly time: string
  readonly source: Place
  readonly code: string
  readonly message: string
}

interface Place {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** Adds `dead-letters`: what could not be taken, and the act that takes one of them after all. */
export function registerDeadLetters(program: Command): void {
  const letters = program.command('dead-letters').description('records that could not be taken')
  letters
    .command('list')
    .description('one line each, in the order of time: its place, its source, what is wrong')
    .option('--limit <count>', 'most of them, of all partitions together', wholeNumber, 100)
    .option(...urlOption)
    .action(async (flags: OperatorFlags & { readonly limit: number }) => {
      const path = `/ops/dead-letters?limit=${flags.limit}`
      const { deadLetters } = await askInstance<{ deadLetters: Letter[] }>(flags, path)
      for (const letter of deadLetters) console.log(lineOf(letter))
    })
  letters
    .command('show')
    .description('one of them, with its original decoded, as JSON')
    .argument('<place>', 'as `list` prints it: partition/offset', placeOf)
    .option(...urlOption)
    .action(async (place: string, flags: OperatorFlags) => {
      console.log(JSON.stringify(await askInstance(flags, `/ops/dead-letters/${place}`), null, 2))
    })
  letters
    .command('resend')
    .description('take one of them as a new event, after what was wrong was mended')
    .argument('<place>', 'as `list` prints it: partition/offset', placeOf)
    .option(...urlOption)
    .option(...actorOption)
    .requiredOption(...reasonOption)
    .action(async (place: string, flags: OperatorFlags) => {
      const { topic, partition, offset } = await askInstance<Place>(flags, `/ops/dead-letters/${place}/resend`, 'POST')
      console.log(`it is in the journal, at ${topic}/${partition}/${offset}`)
    })
}

function lineOf({ partition, offset, time, source, code, message }: Letter): string {
  const from = `${source.topic}/${source.partition}/${source.offset}`
  return `${partition}/${offset}  ${time}  ${from}  ${code}: ${message}`
}

function placeOf(text: string): string {
  if (/^\d{1,15}\/\d{1,15}$/.test(text)) return text
  throw new InvalidArgumentError('Not a place such as 0/17.')
}
