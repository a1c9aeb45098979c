import { goldenDigest, recordGolden, scenarios } from './golden/golden-journals.js'

// Records the golden journals of the domains named, and prints what they fold to: for a change of an event's or a row's form.
const wanted = process.argv.slice(2)
for (const scenario of scenarios) {
  if (wanted.includes(scenario.domain)) await recordGolden(scenario)
  console.log(`${scenario.domain} ${await goldenDigest(scenario)}`)
}
