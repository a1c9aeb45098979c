import { writeSync } from 'node:fs'

/** What a process took, as it tells it at its end. */
export interface ProcessUsage {
  /** CPU time, its start too. */
  readonly cpuMs: number
  /** Resident memory at most, MB of 10^6 bytes: of all its time, of the first half and of the second. */
  readonly peakMb: number
  readonly halvesMb: readonly [first: number, second: number]
}

const SAMPLED_MS = 20

// The process of `measureCommand`: runs the command line, and tells over descriptor 3 what that took.
const samples: number[] = []
setInterval(() => samples.push(process.memoryUsage.rss() / 1e6), SAMPLED_MS).unref()
process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const half = Math.ceil(samples.length / 2)
  const peakOf = (some: readonly number[]): number => Math.max(0, ...some)
  const usage: ProcessUsage = {
    cpuMs: (userCPUTime + systemCPUTime) / 1000,
    peakMb: (maxRSS * 1024) / 1e6,
    halvesMb: [peakOf(samples.slice(0, half)), peakOf(samples.slice(half))],
  }
  writeSync(3, JSON.stringify(usage))
})
await import('../cli.js')
