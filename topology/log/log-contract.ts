import type { Test } from 'tap'
import { appendCases } from './contract/appends.js'
import { cleaningCases } from './contract/cleaning.js'
import { groupCases } from './contract/groups.js'
import type { ContractCase, LogHarness } from './contract/harness.js'
import { lifetimeCases } from './contract/lifetime.js'
import { memberCases } from './contract/members.js'
import { readCases } from './contract/reads.js'
import { topicCases } from './contract/topics.js'
import { writerCases } from './contract/writers.js'

export type { LogHarness } from './contract/harness.js'

const families: readonly (readonly [string, readonly ContractCase[]])[] = [
  ['topics', topicCases],
  ['appends', appendCases],
  ['reads', readCases],
  ['groups', groupCases],
  ['members', memberCases],
  ['writers', writerCases],
  ['lifetime', lifetimeCases],
  ['cleaning', cleaningCases],
]

/**
 * What the log port promises, as tests that use the port alone: each driver runs all of it. Offsets may have holes, as
 * transaction markers leave them. A case that needs what the harness lacks is skipped, and says so.
 */
export async function logContract(t: Test, harness: LogHarness): Promise<void> {
  const complete: Required<LogHarness> = {
    reopen: absent,
    clean: absent,
    deleteRetentionMs: 0,
    deleteBefore: absent,
    passTime: () => Promise.resolve(),
    stepWallClock: () => undefined,
    keepsHeaderOrder: true,
    ...harness,
  }
  for (const [family, cases] of families) {
    for (const each of cases) {
      const missing = (each.needs ?? []).filter((need) => harness[need] === undefined)
      const skip = missing.length > 0 && `the driver has no ${missing.join(', ')}`
      await t.test(`${family}: ${each.name}`, { skip }, (test) => each.run(test, complete))
    }
  }
}

function absent(): never {
  throw new Error('a case uses what it does not name in `needs`')
}
