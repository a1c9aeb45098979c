import t from 'tap'
import { soak } from './soak.js'

t.setTimeout(350_000)

for (const [name, seeds] of [
  ['instance', '300'],
  ['crash-points', '200'],
] as const) {
  t.test(`${name}: whatever befalls the process, stores, outputs and answers are those of the journal`, async (t) => {
    t.strictSame(await soak(name, '--seeds', seeds), {
      code: 0,
      lines: [`${name}: ${seeds} seeds from 1 on, 0 failed`],
    })
  })
}
