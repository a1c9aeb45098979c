import { Argument, Command } from 'commander'
import { numberFrom } from './simulate/command-line.js'
import { clusters } from './simulations/clusters/clusters.js'
import { crashPoints } from './simulations/crash-points.js'
import { instance } from './simulations/instance.js'
import { keepAlive } from './simulations/keep-alive.js'
import { longCases, runLongCase } from './simulations/long-cases.js'
import { runSeeds } from './simulations/run-seeds.js'
import { siteInstances } from './simulations/site-instances.js'
import { sites } from './simulations/sites.js'

const simulations = [clusters, instance, crashPoints, keepAlive, sites, siteInstances]

interface Flags {
  readonly seed: number
  readonly seeds: number
  readonly minutes: number
  readonly trace: boolean
}

/** What is named, else all simulations; status 1 when something does not hold. */
async function main(names: readonly string[], { seed, seeds, minutes, trace }: Flags): Promise<void> {
  const until = performance.now() + minutes * 60_000
  const goesOn = (): boolean => performance.now() < until
  const say = (line: string): void => console.log(line)
  for (const simulation of simulations.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const failed = await runSeeds(simulation, { first: seed, count: seeds, goesOn }, { say, trace })
    if (failed > 0) process.exitCode = 1
  }
  for (const longCase of longCases.filter(({ name }) => names.includes(name))) {
    if (!(await runLongCase(longCase, say))) process.exitCode = 1
  }
}

const listed = (all: readonly { readonly name: string; readonly about: string }[]): string =>
  all.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join('\n')

await new Command('soak')
  .description('Run simulations over many seeds, or cases in their full length, which the tests shorten.')
  .addArgument(
    new Argument('[what...]', 'all simulations when nothing is named').choices(
      [...simulations, ...longCases].map(({ name }) => name),
    ),
  )
  .option('--seed <number>', 'the first seed of each simulation', numberFrom(0, 2 ** 31, true), 1)
  .option('--seeds <count>', 'seeds of each, one after another', numberFrom(1, 2 ** 31, true), 1000)
  .option('--minutes <number>', 'begin no seed after so long', numberFrom(0, 1e6), 1e6)
  .option('--trace', 'print a hash of all that happened under each seed', false)
  .addHelpText('after', `\nSimulations:\n${listed(simulations)}\n\nCases:\n${listed(longCases)}`)
  .action(main)
  .parseAsync()
