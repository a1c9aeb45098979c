import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { Ajv } from 'ajv'
import t from 'tap'
import type { Test } from 'tap'
import { settingsWith } from '../../common/settings.js'
import { avroType } from '../../schemas/avro.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { commandLine } from '../system/command-line.js'
import { topicSchemas } from './topic-schemas.js'

interface Registered {
  readonly schema: string
  readonly schemaType?: string
}

/** The part of a registry that takes schemas; `refuse` is its own rule. */
async function registry(
  t: Test,
  refuse: (subject: string) => boolean = () => false,
): Promise<{
  readonly url: string
  readonly subjects: Map<string, Registered[]>
}> {
  const subjects = new Map<string, Registered[]>()
  let ids = 0
  const server = createServer((request, response) => {
    const subject = decodeURIComponent(/^\/subjects\/([^/]+)\/versions/.exec(request.url ?? '')?.[1] ?? '')
    const versions = subjects.get(subject) ?? []
    const answer = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body))
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      if (request.method === 'POST' && refuse(subject)) answer(409, { error_code: 409, message: 'not by our rule' })
      else if (request.method === 'POST') {
        subjects.set(subject, [...versions, JSON.parse(text) as Registered])
        answer(200, { id: ++ids })
      } else if (versions.length === 0) answer(404, { error_code: 40401, message: 'Subject not found' })
      else answer(200, { subject, version: versions.length, ...versions.at(-1) })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, subjects }
}

t.test('every topic with Avro or JSON has a schema, and names of topics follow the settings', async (t) => {
  const settings = settingsWith({ heartbeatTopic: 'beats', applicationId: 'site-a', trustLevelNoticeTopic: 'notices' })
  const processors = declaredProcessors(settings)
  const all = topicSchemas(processors, 'site-a')
  for (const { subject, format, schema } of all) {
    if (format === 'AVRO') t.doesNotThrow(() => avroType(schema), subject)
    else t.doesNotThrow(() => new Ajv({ strictTypes: false }).compile(schema as object), subject)
  }
  const found = all.map(({ subject, format }) => `${format} ${subject}`)
  const expected = ['AVRO beats-value', 'JSON beats-DeviceTrustLevel', 'AVRO site-a-trust-level-journal-value']
  expected.push('JSON notices-value', 'JSON site-a-trust-level-digests-value', 'JSON e2t-messages-value')
  for (const subject of expected) t.ok(found.includes(subject), subject)
  const subjects = all.map(({ subject }) => subject)
  t.equal(new Set(subjects).size, subjects.length, 'a subject has one format')
  const withoutSchema = processors.flatMap(({ outputs }) => outputs.flatMap(({ topic, json }) => (json ? [] : [topic])))
  t.same(withoutSchema, ['e2t-keep-alive-requests', 'ran-connection-events', 'ran-manipulation-events'])
})

t.test('schemas are registered once, checked, and refused where old records could not be read', async (t) => {
  const { url, subjects } = await registry(t)
  const run = (command: string): Promise<string> => commandLine('schemas', command, `--schema-registry-url=${url}`)
  t.match(await run('check'), /^0 (.*-\w+ \((JSON|Avro)\): not registered yet\n)+$/)
  t.match(await run('register'), /^0 (.*-\w+ \((JSON|Avro)\): registered as id \d+\n)+$/)
  const registered = new Map(subjects)
  t.match(await run('register'), /^0 (.*-\w+ \((JSON|Avro)\): is registered\n)+$/)
  t.strictSame(subjects, registered)
  t.match(await run('check'), /^0 (.*-\w+ \((JSON|Avro)\): the same as version 1\n)+$/)

  const subject = 'dmi-device-heartbeat-value'
  const [{ schema } = { schema: '' }] = subjects.get(subject) ?? []
  subjects.set(subject, [{ schema: schema.replace('"NONE","COMPLETE"', '"NONE"') }])
  t.match(await run('check'), `${subject} (Avro): compatible with version 1\n`)
  t.match(await run('register'), `${subject} (Avro): registered as id`)
  const other = { type: 'record', name: 'Other', fields: [{ name: 'level', type: 'int' }] }
  subjects.set(subject, [{ schema: JSON.stringify(other) }])
  for (const command of ['check', 'register']) {
    t.match(await run(command), /^1 [^]*heartbeat-value \(Avro\): cannot read what version 1 has written: /)
  }
  t.equal(subjects.get(subject)?.length, 1, 'nothing was registered')
})

t.test('JSON: what others wrote is still taken, and what we write keeps to what others know', async (t) => {
  const { url, subjects } = await registry(t)
  const run = (command: string): Promise<string> => commandLine('schemas', command, `--schema-registry-url=${url}`)
  await run('register')
  const original = new Map(subjects)
  const change = (subject: string, from: string | RegExp, to: string): void => {
    const { schema = '', ...more } = original.get(subject)?.[0] ?? {}
    t.not(schema.replace(from, to), schema, subject)
    subjects.set(subject, [{ ...more, schema: schema.replace(from, to) }])
  }
  const input = 'dmi-device-heartbeat-DeviceTrustLevel'
  const output = 'ncmp-inventory-events-value'
  const table: readonly (readonly [subject: string, from: string | RegExp, to: string, said: string])[] = [
    [input, '["NONE","COMPLETE"]', '["NONE"]', 'compatible with version 1'],
    [input, '"NONE",', '"NONE","PARTIAL",', 'cannot read what version 1 has written: "data.trustLevel may be PARTIAL"'],
    [output, /"NONE",/g, '"NONE","PARTIAL",', 'compatible with version 1'],
    [output, /"NONE",/g, '', 'cannot be read by those who know version 1: '],
  ]
  for (const [subject, from, to, said] of table) {
    change(subject, from, to)
    const status = said.startsWith('compatible') ? 0 : 1
    const told = await run('check')
    t.ok(told.startsWith(`${status} `) && told.includes(`${subject} (JSON): ${said}`), told)
    subjects.set(subject, original.get(subject) ?? [])
  }
  subjects.set(output, [{ schema: '"string"' }])
  t.match(await run('check'), `${output} (JSON): cannot be read by those who know version 1: that is in "AVRO"`)
})

t.test('of two sites the register has schemas as well', async (t) => {
  const { url, subjects } = await registry(t)
  await commandLine('schemas', 'register', `--schema-registry-url=${url}`, '--site-peer-url=http://127.0.0.1:9')
  for (const topic of ['pulsefold-site', 'pulsefold-site-register-journal', 'pulsefold-site-register-digests']) {
    t.ok(subjects.has(`${topic}-value`), topic)
  }
})

t.test('a rule of the registry that forbids a schema is told as such', async (t) => {
  const { url } = await registry(t, (subject) => subject === 'alarms-value')
  const told = await commandLine('schemas', 'register', `--schema-registry-url=${url}`)
  t.match(told, /^70 [^]*did not take POST \/subjects\/alarms-value\/versions: status 409/)
})

t.test('without a registry it says what is missing', async (t) => {
  t.match(await commandLine('schemas', 'check'), /^78 [^]*schemaRegistryUrl is "", expected: the address of a registry/)
  t.match(await commandLine('schemas', 'check', '--schema-registry-url=http://127.0.0.1:9'), /^69 .*did not take GET/)
})

const { PULSEFOLD_SCHEMA_REGISTRY_URL: realUrl = '' } = process.env
t.test('a real registry takes them', { skip: realUrl === '' && 'no registry: see ./scripts/services' }, async (t) => {
  const flags = [`--schema-registry-url=${realUrl}`, `--application-id=schemas-${randomUUID()}`]
  flags.push(`--heartbeat-topic=heartbeats-${randomUUID()}`, `--alarm-topic=alarms-${randomUUID()}`)
  t.match(await commandLine('schemas', 'register', ...flags), /^0 (.*\): (is registered|registered as id \d+)\n)+$/)
  t.match(await commandLine('schemas', 'check', ...flags), /^0 (.*\): the same as version \d+\n)+$/)
})
