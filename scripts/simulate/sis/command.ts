import { InvalidArgumentError, type Command } from 'commander'
import { systemClock } from '../../../common/clock.js'
import { numberFrom, whileNotInterrupted } from '../command-line.js'
import { progressOn } from '../progress.js'
import { leastDurationMs } from './plan.js'
import { isSisAsExpected, sisReportLines } from './report.js'

interface Flags {
  readonly url: string
  readonly platforms: number
  readonly addresses: number
  readonly nodes: number
  readonly rate: number
  readonly outages: number
  readonly detectInterval: number
  readonly retryInterval: number
  readonly retryAttempts: number
  readonly duration: number
  readonly seed: number
  readonly cleanUp: boolean
}

/** Adds `simulate sis`; its exit status is 1 when an address did not move as the script says. */
export function registerSimulateSis(simulate: Command): void {
  simulate
    .command('sis')
    .description(
      'play SIS nodes that call external platforms whose addresses fail and recover, and compare how addresses moved with the script',
    )
    .option('--url <url>', 'address of a Pulsefold on this machine', 'http://127.0.0.1:8080')
    .option('--platforms <count>', 'platforms to create', numberFrom(1, 1000, true), 2)
    .option('--addresses <count>', 'of each platform', numberFrom(1, 100, true), 3)
    .option('--nodes <count>', 'SIS nodes', numberFrom(1, 100, true), 4)
    .option('--rate <calls>', 'a second and node', numberFrom(0.1, 1000), 20)
    .option('--outages <count>', 'of each platform, each of another address', numberFrom(0, 100, true), 1)
    .option('--detect-interval <ms>', 'parameter of the platforms', numberFrom(100, 600_000, true), 2000)
    .option('--retry-interval <ms>', 'parameter of the platforms', numberFrom(100, 600_000, true), 2000)
    .option('--retry-attempts <count>', 'parameter of the platforms', numberFrom(1, 100, true), 3)
    .option('--duration <seconds>', 'how long to call', numberFrom(1, 3600), 60)
    .option('--seed <number>', 'the same seed gives the same script', numberFrom(0, 2 ** 31 - 1, true), 1)
    .option('--clean-up', 'remove the platforms at the end', false)
    .action(async ({ detectInterval, retryInterval, duration, ...rest }: Flags) => {
      const durationMs = duration * 1000
      const options = { ...rest, detectIntervalMs: detectInterval, retryIntervalMs: retryInterval, durationMs }
      const leastMs = leastDurationMs(options)
      if (durationMs < leastMs) {
        throw new InvalidArgumentError(`With these intervals --duration must be at least ${Math.ceil(leastMs / 1000)}.`)
      }
      await whileNotInterrupted(async (signal) => {
        const progress = progressOn(process.stderr, duration, 's')
        try {
          const { simulateSis } = await import('./simulate-sis.js')
          const report = await simulateSis(options, { clock: systemClock, signal, progress })
          progress.stop()
          console.log(sisReportLines(report).join('\n'))
          return isSisAsExpected(report)
        } finally {
          progress.stop()
        }
      })
    })
}
