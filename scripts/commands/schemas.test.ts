import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { settingsWith } from '../../common/settings.js'
import { avroType } from '../../schemas/avro.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { commandLine } from '../system/command-line.js'
import { topicSchemas } from './topic-schemas.js'

/** The part of a registry that takes schemas. */
async function registry(t: Test): Promise<{ readonly url: string; readonly subjects: Map<string, string[]> }> {
  const subjects = new Map<string, string[]>()
  let ids = 0
  const server = createServer((request, response) => {
    const subject = decodeURIComponent(/^\/subjects\/([^/]+)\/versions/.exec(request.url ?? '')?.[1] ?? '')
    const versions = subjects.get(subject) ?? []
    const answer = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body))
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      if (request.method === 'POST') {
        subjects.set(subject, [...versions, (JSON.parse(text) as { schema: string }).schema])
        answer(200, { id: ++ids })
      } else if (versions.length === 0) answer(404, { error_code: 40401, message: 'Subject not found' })
      else answer(200, { subject, version: versions.length, schema: versions.at(-1) })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, subjects }
}

t.test('every topic with Avro has a schema that Avro takes, and names of topics follow the settings', async (t) => {
  const settings = settingsWith({ heartbeatTopic: 'beats', applicationId: 'site-a' })
  const all = topicSchemas(declaredProcessors(settings), 'site-a')
  for (const { topic, schema } of all) t.doesNotThrow(() => avroType(schema), topic)
  const topics = all.map(({ topic }) => topic)
  for (const topic of ['beats', 'site-a-trust-level-journal']) t.ok(topics.includes(topic), topic)
})

t.test('schemas are registered once, checked, and refused where old records could not be read', async (t) => {
  const { url, subjects } = await registry(t)
  const run = (command: string): Promise<string> => commandLine('schemas', command, `--schema-registry-url=${url}`)
  t.match(await run('check'), /^0 (.*-value: not registered yet\n)+$/)
  t.match(await run('register'), /^0 (.*-value: registered as id \d+\n)+$/)
  const registered = new Map(subjects)
  t.match(await run('register'), /^0 (.*-value: is registered\n)+$/)
  t.strictSame(subjects, registered)
  t.match(await run('check'), /^0 (.*-value: the same as version 1\n)+$/)

  const subject = 'dmi-device-heartbeat-value'
  const [schema = ''] = subjects.get(subject) ?? []
  subjects.set(subject, [schema.replace('"NONE","COMPLETE"', '"NONE"')])
  t.match(await run('check'), `${subject}: compatible with version 1\n`)
  t.match(await run('register'), `${subject}: registered as id`)
  const other = { type: 'record', name: 'Other', fields: [{ name: 'level', type: 'int' }] }
  subjects.set(subject, [JSON.stringify(other)])
  for (const command of ['check', 'register']) {
    t.match(await run(command), /^1 [^]*dmi-device-heartbeat-value: cannot read what version 1 has written: /)
  }
  t.equal(subjects.get(subject)?.length, 1, 'nothing was registered')
})

t.test('without a registry it says what is missing', async (t) => {
  t.match(await commandLine('schemas', 'check'), /^78 [^]*schemaRegistryUrl expected: an http or https address/)
  t.match(await commandLine('schemas', 'check', '--schema-registry-url=http://127.0.0.1:9'), /^70 .*did not take GET/)
})

const { PULSEFOLD_SCHEMA_REGISTRY_URL: realUrl = '' } = process.env
t.test('a real registry takes them', { skip: realUrl === '' && 'no registry: see ./scripts/services' }, async (t) => {
  const flags = [`--schema-registry-url=${realUrl}`, `--application-id=schemas-${randomUUID()}`]
  flags.push(`--heartbeat-topic=heartbeats-${randomUUID()}`)
  t.match(await commandLine('schemas', 'register', ...flags), /^0 (.*-value: (is registered|registered as id \d+)\n)+$/)
  t.match(await commandLine('schemas', 'check', ...flags), /^0 (.*-value: the same as version \d+\n)+$/)
})
