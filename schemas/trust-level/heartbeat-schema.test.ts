import { Ajv } from 'ajv'
import t from 'tap'
import { avroType } from '../avro.js'
import { deviceTrustLevelAvro, deviceTrustLevelJson } from './heartbeat-schema.js'

t.test('both schemas describe the body that the page gives, and nothing else', async (t) => {
  const isJson = new Ajv().compile(deviceTrustLevelJson)
  const avro = avroType(deviceTrustLevelAvro)
  const table: readonly (readonly [body: unknown, valid: boolean])[] = [
    [{ data: { trustLevel: 'NONE' } }, true],
    [{ data: { trustLevel: 'COMPLETE' } }, true],
    [{ data: { trustLevel: 'PARTIAL' } }, false],
    [{ data: {} }, false],
    [{ trustLevel: 'NONE' }, false],
  ]
  for (const [body, valid] of table) {
    t.equal(isJson(body), valid, JSON.stringify(body))
    t.equal(avro.isValid(body), valid, JSON.stringify(body))
  }
  t.notOk(isJson({ data: { trustLevel: 'NONE', more: 1 } }))
})

t.test('the Avro schema has the name that producers register, and NONE for symbols to come', async (t) => {
  t.equal(avroType(deviceTrustLevelAvro).name, 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel')
  t.match(JSON.stringify(deviceTrustLevelAvro), '"symbols":["NONE","COMPLETE"],"default":"NONE"')
})
