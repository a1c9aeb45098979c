import t from 'tap'
import { sites } from '../simulations/sites.js'

for (let seed = 1; seed <= 8; seed++) {
  t.test(`seed ${seed}: acts, broken links, skewed clocks and crashes end with one active site that has all`, (t) =>
    t.resolves(sites.run(seed)),
  )
}
