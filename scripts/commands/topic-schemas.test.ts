import { Ajv } from 'ajv'
import t from 'tap'
import { names } from '../../topology/names.js'
import { TopologyTestDriver } from '../../topology/test-driver.js'
import { scenarios } from '../golden/golden-journals.js'
import { actorOf, scenarioProcessor } from '../golden/scenario.js'
import { topicSchemas } from './topic-schemas.js'

const ajv = new Ajv({ strictTypes: false })

for (const scenario of scenarios) {
  t.test(`what ${scenario.domain} writes in JSON is as its schemas say`, async (t) => {
    const processor = scenarioProcessor(scenario)
    const driver = new TopologyTestDriver({ processors: [processor], partitions: 2 })
    await driver.start()
    await scenario.play(actorOf(driver, scenario.domain))
    await driver.advance(3000)
    const written = topicSchemas([processor], 'test').filter(({ direction }) => direction === 'written')
    t.same(
      written.map(({ subject }) => subject).sort(),
      [
        ...processor.outputs.flatMap(({ topic, json }) => (json === undefined ? [] : [`${topic}-value`])),
        `${names.digests('test', processor.store)}-value`,
      ].sort(),
    )
    for (const { subject, schema } of written) {
      const isValid = ajv.compile(schema as object)
      const records = await driver.read(subject.replace(/-value$/, ''))
      const values = records.map(({ value }) => value?.toString() ?? '').filter((value) => value !== '')
      t.ok(values.length > 0, subject)
      for (const value of values)
        if (!isValid(JSON.parse(value))) t.fail(`${subject}: ${value} ${ajv.errorsText(isValid.errors)}`)
    }
    await driver.stop()
  })
}
