import type { Command } from 'commander'
import { systemClock } from '../../common/clock.js'
import { numberFrom, whileNotInterrupted } from './command-line.js'
import { registerSimulateE2t } from './e2t/command.js'
import { heartbeatCount } from './plan.js'
import { progressOn } from './progress.js'
import { isAsExpected, reportLines } from './report.js'
import { registerSimulateSis } from './sis/command.js'

interface Flags {
  readonly url: string
  readonly devices: number
  readonly plugins: number
  readonly interval: number
  readonly failureShare: number
  readonly outages: number
  readonly duration: number
  readonly seed: number
  readonly cleanUp: boolean
}

/** Adds `simulate` to the command line; its exit status is 1 when an answer is not as expected. */
export function registerSimulate(program: Command): void {
  const simulate = program
    .command('simulate')
    .description(
      'play DMI plugins and their devices to a running Pulsefold, and compare its answers with what it was told',
    )
    .option('--url <url>', 'address of a Pulsefold on this machine', 'http://127.0.0.1:8080')
    .option('--devices <count>', 'devices to register', numberFrom(1, 60_000, true), 1000)
    .option('--plugins <count>', 'DMI plugins, each with its share of the devices', numberFrom(1, 200, true), 5)
    .option('--interval <seconds>', 'between two heartbeats of a device', numberFrom(1, 3600), 60)
    .option('--failure-share <share>', 'of the heartbeats that say NONE, 0 to 1', numberFrom(0, 1), 0.05)
    .option('--outages <count>', 'plugins that go down; every second one returns', numberFrom(0, 200, true), 1)
    .option('--duration <seconds>', 'how long to send', numberFrom(1, 3600), 120)
    .option('--seed <number>', 'the same seed gives the same run', numberFrom(0, 2 ** 31 - 1, true), 1)
    .option('--clean-up', 'remove the devices at the end', false)
    .action(async (flags: Flags) => {
      const { interval, duration, ...rest } = flags
      const options = { ...rest, intervalMs: interval * 1000, durationMs: duration * 1000 }
      await whileNotInterrupted(async (signal) => {
        const progress = progressOn(process.stderr, heartbeatCount(options), 'heartbeats')
        try {
          const { simulateTrustLevels } = await import('./simulate.js')
          const report = await simulateTrustLevels(options, { clock: systemClock, signal, progress })
          progress.stop()
          console.log(reportLines(report).join('\n'))
          return isAsExpected(report)
        } finally {
          progress.stop()
        }
      })
    })
  registerSimulateSis(simulate)
  registerSimulateE2t(simulate)
}
