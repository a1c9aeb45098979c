import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { QueryResult } from '../streams.js'
import { HAND_OVER_MS, handOver } from './hand-over.js'
import { holders } from './test-instances.js'

interface Case {
  readonly name: string
  /** Of both tasks, when each is live elsewhere. */
  readonly liveAfterMs: readonly [first: number, second: number]
  /** How long leaving the group takes. */
  readonly leavesAfterMs?: number
  readonly hasHeir?: boolean
  readonly isTaken: boolean
  readonly tookMs: number
}

const NEVER = Infinity

const cases: readonly Case[] = [
  { name: 'ends when the last task is live elsewhere', liveAfterMs: [100, 300], isTaken: true, tookMs: 300 },
  { name: 'waits for a restore', liveAfterMs: [100, 6000], isTaken: true, tookMs: 6000 },
  { name: 'counts the time that leaving takes', liveAfterMs: [0, 0], leavesAfterMs: 2000, isTaken: true, tookMs: 2000 },
  {
    name: 'ends in time when a task is taken by nobody',
    liveAfterMs: [0, NEVER],
    isTaken: false,
    tookMs: HAND_OVER_MS,
  },
  {
    name: 'ends in time when the group does not let go',
    ...{ liveAfterMs: [0, 0], leavesAfterMs: 60_000, isTaken: false, tookMs: HAND_OVER_MS },
  },
  { name: 'waits for nobody', liveAfterMs: [0, 0], hasHeir: false, isTaken: false, tookMs: 0 },
]

for (const { name, liveAfterMs, leavesAfterMs = 0, hasHeir = true, isTaken, tookMs } of cases) {
  t.test(`SH-01 a hand-over ${name}`, async (t) => {
    const clock = manualClock()
    const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, ms))
    let open = 0
    const answer = (partition: number): QueryResult<never> => {
      const isLive = clock.monotonic() >= (liveAfterMs[partition] ?? NEVER)
      return (isLive ? { ok: true } : { ok: false }) as QueryResult<never>
    }
    const ending = handOver({
      application: {
        tasks: [0, 1].map((partition) => ({ processor: { name: 'counting' }, partition })),
        directory: { holders: () => (hasHeir ? holders('a') : {}) } as never,
        leave: () => pause(leavesAfterMs),
      },
      streams: {
        async queryPartition(_domain, _query, partition) {
          open++
          await pause(1)
          open--
          return answer(partition)
        },
      },
      clock,
    }).then((taken) => ({ taken, atMs: clock.monotonic() }))
    await clock.advance(HAND_OVER_MS + 1000)
    const { taken, atMs } = await ending
    t.equal(taken, isTaken)
    t.ok(atMs >= tookMs && atMs <= tookMs + 100, `${atMs} ms`)
    t.equal(open, 0, 'nobody is asked any more')
  })
}
