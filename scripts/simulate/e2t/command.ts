import type { Command } from 'commander'
import { systemClock } from '../../../common/clock.js'
import { keepAliveProfiles } from '../../../common/keep-alive-times.js'
import type { KeepAliveProfile } from '../../../common/keep-alive-times.js'
import { numberFrom, whileNotInterrupted } from '../command-line.js'
import { isAsExpected, reportLines } from './report.js'

interface Flags {
  readonly url: string
  readonly ric: string
  readonly instances: number
  readonly rans: number
  readonly deaths: number
  readonly stalls: number
  readonly restarts: number
  readonly routingManagerPort: number
  readonly kubernetesPort: number
  readonly routingManagerFails: boolean
  readonly kubernetesFails: boolean
  readonly profile: KeepAliveProfile
  readonly seed: number
}

/** Adds `simulate e2t`; its exit status is 1 when an answer is not as expected. */
export function registerSimulateE2t(simulate: Command): void {
  simulate
    .command('e2t')
    .description('play E2 terminations, a Routing Manager and a Kubernetes API, and compare what becomes of them')
    .option('--url <url>', 'address of a Pulsefold on this machine', 'http://127.0.0.1:8080')
    .option('--ric <id>', 'RIC of the instances', 'AACCE')
    .option('--instances <count>', 'E2T instances', numberFrom(1, 1000, true), 10)
    .option('--rans <count>', 'RANs of each instance', numberFrom(0, 10_000, true), 10)
    .option('--deaths <count>', 'instances that die', numberFrom(0, 1000, true), 2)
    .option('--stalls <count>', 'instances that stall for a third of the time-out', numberFrom(0, 1000, true), 2)
    .option('--restarts <count>', 'instances that restart', numberFrom(0, 1000, true), 1)
    .option(
      '--routing-manager-port <port>',
      'of the Routing Manager played (routingManagerUrl)',
      numberFrom(0, 65_535, true),
      38001,
    )
    .option('--routing-manager-fails', 'it answers 500 while instances die', false)
    .option(
      '--kubernetes-port <port>',
      'of the Kubernetes API played (a kubeconfig that names it)',
      numberFrom(0, 65_535, true),
      38002,
    )
    .option('--kubernetes-fails', 'it answers 500 while instances die', false)
    .option('--profile <name>', 'times of the service: default or upstream', 'default')
    .option('--seed <number>', 'the same seed gives the same run', numberFrom(0, 2 ** 31 - 1, true), 1)
    .action((flags: Flags) => {
      const { keepAliveResponseTimeoutMs: timeoutMs, keepAliveDelayMs: delayMs } = keepAliveProfiles[flags.profile]
      return whileNotInterrupted(async (signal) => {
        const options = { ...flags, ransPerInstance: flags.rans, timeoutMs, delayMs }
        const { simulateE2t } = await import('./simulate-e2t.js')
        const report = await simulateE2t(options, { clock: systemClock, signal })
        console.log(reportLines(report).join('\n'))
        return isAsExpected(report)
      })
    })
}
