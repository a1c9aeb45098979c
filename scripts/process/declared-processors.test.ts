import t from 'tap'
import { settingNames, specOf } from '../../common/settings-schema.js'
import { settingsWith } from '../../common/settings.js'
import { declaredProcessors } from './declared-processors.js'

t.test('no secret is among the settings that go into journals', (t) => {
  const secrets = settingNames.filter((name) => specOf(name).secret === true)
  t.ok(secrets.length > 0)
  const settings = settingsWith({
    kafkaSaslMechanism: 'plain',
    kafkaUsername: 'user',
    dmiUsername: 'user',
    ...Object.fromEntries(secrets.map((name) => [name, 'not-to-be-told'])),
  })
  for (const { name, settings: told } of declaredProcessors(settings)) {
    t.notMatch(JSON.stringify(told), 'not-to-be-told', name)
  }
  t.end()
})
