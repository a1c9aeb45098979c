import { TRUST_LEVELS } from '../../schemas/trust-level/journal-events.js'
import { seededRandom } from '../../common/random.js'
import { drawn } from './random.js'
import { comparedSearch, type ReadDifference, type Report, type SearchComparison } from './report.js'
import type { Run } from './traffic.js'

const SINGLE_READS = 500

/** Searches by each trust level; handles that are not of this run are left out. */
export async function compareSearches({ api, devices, expectation }: Run): Promise<readonly SearchComparison[]> {
  const ours = new Set(devices.map(({ cmHandle }) => cmHandle))
  const comparisons: SearchComparison[] = []
  for (const trustLevel of TRUST_LEVELS) {
    const found = (await api.search(trustLevel)).filter((id) => ours.has(id))
    const expected = devices.filter((_device, index) => expectation.trustLevel(index) === trustLevel)
    comparisons.push(
      comparedSearch(
        trustLevel,
        expected.map(({ cmHandle }) => cmHandle),
        found,
      ),
    )
  }
  return comparisons
}

/** Single reads of some devices, drawn by the seed. */
export async function compareReads({ api, options, devices, expectation }: Run): Promise<Report['reads']> {
  const asked = drawn(seededRandom(options.seed + 2), SINGLE_READS, devices.length)
  const different: ReadDifference[] = []
  for (const device of asked) {
    const cmHandle = devices[device]?.cmHandle ?? ''
    const expected = expectation.trustLevel(device)
    const actual = await api.read(cmHandle)
    if (actual !== expected) different.push({ cmHandle, expected, actual })
  }
  return { asked: asked.length, different }
}
