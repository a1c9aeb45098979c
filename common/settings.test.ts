import { join } from 'node:path'
import t from 'tap'
import { flagOf, variableOf } from './settings-names.js'
import { settingNames, specOf } from './settings-schema.js'
import { loadSettings, SettingsError, settingsWith } from './settings.js'
import type { SettingsInput } from './settings.js'
import { describeFlags, printSettings } from './settings-text.js'

const faultsOf = (input: SettingsInput) => {
  try {
    loadSettings(input)
  } catch (error) {
    if (error instanceof SettingsError) return error.faults
    throw error
  }
  return []
}

t.test('names have three spellings', async (t) => {
  t.equal(variableOf('dmiHealthIntervalMs'), 'PULSEFOLD_DMI_HEALTH_INTERVAL_MS')
  t.equal(flagOf('dmiHealthIntervalMs'), '--dmi-health-interval-ms')
  t.equal(flagOf('restApiNcmpBasePath'), '--rest-api-ncmp-base-path')
})

t.test('no two settings share a spelling, and none takes the name of the file', async (t) => {
  t.equal(new Set(settingNames.map(variableOf)).size, settingNames.length)
  t.equal(new Set(settingNames.map(flagOf)).size, settingNames.length)
  t.notOk(settingNames.map(flagOf).includes('--config'))
})

for (const name of settingNames) {
  t.test(`${name} has a right default, a unit in its name, and a description`, async (t) => {
    const spec = specOf(name)
    t.doesNotThrow(() => settingsWith({ [name]: spec.default }))
    t.match(spec.description, /^[A-Z].*\.$/)
    const suffix = { ms: 'Ms', bytes: 'Bytes' }
    if (spec.unit !== undefined) t.ok(name.endsWith(suffix[spec.unit]))
    else t.notOk(/(Ms|Bytes)$/.test(name))
  })
}

t.test('without any source, all is the default, and the data is in the project', async (t) => {
  const { settings, sources } = loadSettings({ directory: '/somewhere', projectDirectory: '/project' })
  t.equal(settings.dataDir, join('/project', 'data'))
  t.equal(settings.httpPort, 8080)
  t.same(settings.dmiHealthPaths, ['/manage/health/readiness', '/actuator/health'])
  t.same(new Set(Object.values(sources)), new Set(['default']))
})

t.test('a later source wins: file, environment, flags', async (t) => {
  const directory = t.testdir({
    'pulsefold.json': JSON.stringify({ httpPort: 1, partitions: 2, onDmiRestart: 'keep', dataDir: 'a' }),
  })
  const { settings, sources } = loadSettings({
    directory,
    environment: { PULSEFOLD_CONFIG: 'pulsefold.json', PULSEFOLD_HTTP_PORT: '3', PULSEFOLD_PARTITIONS: '4' },
    flags: ['--http-port', '5'],
  })
  t.match(settings, { httpPort: 5, partitions: 4, onDmiRestart: 'keep', dataDir: join(directory, 'a') })
  t.match(sources, { httpPort: 'flag', partitions: 'environment', onDmiRestart: 'file', httpHost: 'default' })
})

t.test('the flag names the file before the variable does', async (t) => {
  const directory = t.testdir({ 'a.json': '{"httpPort":1}', 'b.json': '{"httpPort":2}' })
  const input = { directory, environment: { PULSEFOLD_CONFIG: 'a.json' } }
  t.equal(loadSettings(input).settings.httpPort, 1)
  t.equal(loadSettings({ ...input, flags: ['--config=b.json'] }).settings.httpPort, 2)
})

t.test('the result cannot be changed', async (t) => {
  const { settings, sources } = loadSettings({ flags: ['--dmi-health-paths', '/a'] })
  t.ok(Object.isFrozen(settings) && Object.isFrozen(sources) && Object.isFrozen(settings.dmiHealthPaths))
})

const accepted = [
  { flags: ['--http-port', '0'], settings: { httpPort: 0 } },
  { flags: ['--http-port=9090'], settings: { httpPort: 9090 } },
  { flags: ['--create-input-topics'], settings: { createInputTopics: true } },
  { flags: ['--create-input-topics', '--http-port', '1'], settings: { createInputTopics: true, httpPort: 1 } },
  { flags: ['--trust-level-notices', 'false'], settings: { trustLevelNotices: false } },
  { flags: ['--trust-level-notices=false'], settings: { trustLevelNotices: false } },
  { flags: ['--dmi-health-paths', ' /a , /b '], settings: { dmiHealthPaths: ['/a', '/b'] } },
  { flags: ['--kafka-brokers='], settings: { kafkaBrokers: [] } },
  { flags: ['--kafka-brokers', 'a:1, [::1]:9092'], settings: { kafkaBrokers: ['a:1', '[::1]:9092'] } },
  { environment: { PULSEFOLD_KAFKA_BROKERS: '' }, settings: { kafkaBrokers: [] } },
  { environment: { PULSEFOLD_SCHEMA_REGISTRY_URL: '' }, settings: { schemaRegistryUrl: '' } },
  { environment: { PULSEFOLD_SCHEMA_REGISTRY_URL: 'http://r:1/x' }, settings: { schemaRegistryUrl: 'http://r:1/x' } },
  {
    environment: { PULSEFOLD_DMI_USERNAME: 'u', PULSEFOLD_DMI_PASSWORD: ' p:= ' },
    settings: { dmiUsername: 'u', dmiPassword: ' p:= ' },
  },
  {
    environment: {
      PULSEFOLD_PORT: 'tcp://10.0.0.1:8080',
      PULSEFOLD_SERVICE_HOST: '10.0.0.1',
      PULSEFOLD_SERVICE_PORT_HTTP: '8080',
      PULSEFOLD_PORT_8080_TCP_ADDR: '10.0.0.1',
      PULSEFOLD_HTTP_PORT: '7',
      OTHER: 'x',
    },
    settings: { httpPort: 7 },
  },
  {
    environment: {
      PULSEFOLD_SERVICES_DIR: '/services',
      PULSEFOLD_KAFKA_PORT: '19092',
      PULSEFOLD_KAFKA_HEAP: '1g',
      PULSEFOLD_REGISTRY_PORT: '19081',
      PULSEFOLD_TEST_KILLS: '20',
      PULSEFOLD_HTTP_PORT: '8',
    },
    settings: { httpPort: 8 },
  },
]
for (const { settings, ...input } of accepted) {
  t.test(`takes ${JSON.stringify(input)}`, async (t) => {
    t.match(loadSettings(input).settings, settings)
  })
}

const refused = [
  { flags: ['--http-port', 'x'], path: '--http-port', value: '"x"', expected: 'a whole number from 0 to 65535' },
  { flags: ['--http-port', '65536'], path: '--http-port', value: '65536' },
  { flags: ['--http-port', '-1'], path: '--http-port', value: '-1' },
  { flags: ['--http-port', '1.5'], path: '--http-port', value: '"1.5"' },
  { flags: ['--http-port'], path: '--http-port' },
  { flags: ['--http-port', '--partitions', '3'], path: '--http-port' },
  { flags: ['--trust-level-notices=no'], path: '--trust-level-notices', expected: 'true or false' },
  { flags: ['--on-dmi-restart', 'reset'], path: '--on-dmi-restart', expected: 'one of complete, keep' },
  { flags: ['--dmi-health-paths', '/a,b'], path: '--dmi-health-paths/1', value: '"b"' },
  { flags: ['--dmi-health-paths', ''], path: '--dmi-health-paths' },
  { flags: ['--dmi-health-paths', '/a,/a'], path: '--dmi-health-paths' },
  { flags: ['--advertised-url', 'http://user:pw@host'], path: '--advertised-url' },
  { flags: ['--advertised-url', 'ftp://host'], path: '--advertised-url' },
  { flags: ['--application-id', '..'], path: '--application-id' },
  { flags: ['--heartbeat-topic', 'a b'], path: '--heartbeat-topic' },
  { flags: ['--data-dir', ''], path: '--data-dir' },
  { flags: ['--kafka-brokers', 'a:1,b'], path: '--kafka-brokers/1' },
  { flags: ['--kafka-sasl-mechanism', 'gssapi'], path: '--kafka-sasl-mechanism', expected: 'one of none, plain' },
  { flags: ['--htpp-port', '1'], path: '"--htpp-port"', expected: /did you mean --http-port\?/ },
  { flags: ['--httpPort', '1'], path: '"--httpPort"', expected: /did you mean --http-port\?/ },
  { flags: ['now'], path: '"now"', expected: 'the name of a setting' },
  { flags: ['--config'], path: '--config', expected: 'the path of a file' },
  { flags: ['--config', '/does/not/exist'], path: '"/does/not/exist"', source: 'file', expected: /ENOENT/ },
  { environment: { PULSEFOLD_PARTITIONS: '' }, path: 'PULSEFOLD_PARTITIONS', source: 'environment' },
  { environment: { PULSEFOLD_HTTPPORT: '1' }, path: 'PULSEFOLD_HTTPPORT', expected: /mean PULSEFOLD_HTTP_PORT\?/ },
  { environment: { PULSEFOLD_SITE_PORT: '1' }, path: 'PULSEFOLD_SITE_PORT', source: 'environment' },
]
for (const { flags, environment, ...fault } of refused) {
  t.test(`refuses ${JSON.stringify({ flags, environment })}`, async (t) => {
    const faults = faultsOf({ ...(flags && { flags }), ...(environment && { environment }) })
    t.equal(faults.length, 1)
    t.match(faults[0], fault)
  })
}

const wrongFiles = [
  { content: '[]', path: /pulsefold.json"$/, expected: 'a JSON object' },
  { content: 'null', path: /pulsefold.json"$/, expected: 'a JSON object' },
  { content: '{"httpPort":', path: /pulsefold.json"$/, expected: 'JSON' },
  { content: '{"httpPort":"1"}', path: 'httpPort', value: '"1"', expected: 'a whole number' },
  { content: '{"httpPort":null}', path: 'httpPort', value: 'null' },
  { content: '{"HttpPort":1}', path: '"HttpPort"', expected: 'did you mean httpPort?' },
  { content: '{"PULSEFOLD_HTTP_PORT":1}', path: '"PULSEFOLD_HTTP_PORT"', expected: 'the name of a setting' },
  { content: '{"__proto__":{"httpPort":1}}', path: '"__proto__"' },
  { content: '{"dmiHealthPaths":["/a",7]}', path: 'dmiHealthPaths/1', value: '7' },
  { content: '{"dmiPassword":7}', path: 'dmiPassword', value: '***' },
]
for (const { content, ...fault } of wrongFiles) {
  t.test(`refuses a file with ${content}`, async (t) => {
    const directory = t.testdir({ 'pulsefold.json': content })
    const faults = faultsOf({ directory, flags: ['--config', 'pulsefold.json'] })
    t.equal(faults.length, 1)
    t.match(faults[0], { source: 'file', ...fault })
  })
}

const unfit = [
  { flags: ['--kafka-sasl-mechanism=plain', '--kafka-username=u'], path: 'kafkaPassword', expected: 'a password' },
  { flags: ['--kafka-sasl-mechanism=plain', '--kafka-password=p'], path: 'kafkaUsername', expected: 'a name' },
  { flags: ['--kafka-username=u', '--kafka-password=p'], path: 'kafkaSaslMechanism', expected: 'a mechanism' },
  { flags: ['--kafka-tls-ca-file=ca.pem'], path: 'kafkaTls', expected: 'true' },
  { flags: ['--kafka-tls', '--kafka-tls-cert-file=c'], path: 'kafkaTlsKeyFile', expected: 'the key' },
  { flags: ['--kafka-tls', '--kafka-tls-key-file=k'], path: 'kafkaTlsCertFile', expected: 'the certificate' },
  { flags: ['--dmi-health-deadline-ms', '500', '--dmi-health-interval-ms=500'], path: '--dmi-health-deadline-ms' },
  { flags: ['--commit-interval-ms', '2000'], path: 'changelogIntervalMs', source: 'default' },
  { flags: ['--dmi-username', 'u'], path: 'dmiPassword', expected: 'a password' },
  { flags: ['--dmi-password', 'p'], path: 'dmiUsername', expected: 'a name' },
  { flags: ['--allowed-url-pattern', '('], path: '--allowed-url-pattern', expected: 'a regular expression' },
  { flags: ['--rest-api-ncmp-base-path', '/ops/x'], path: '--rest-api-ncmp-base-path', expected: 'not below /events' },
  {
    flags: ['--rest-api-ncmp-base-path', '/ncmpInventory'],
    path: 'restApiNcmpInventoryBasePath',
    expected: 'apart from',
  },
  { flags: ['--rest-api-ncmp-base-path', '/ncmp/'], path: '--rest-api-ncmp-base-path' },
  {
    flags: ['--heartbeat-topic', 'sis-call-outcomes'],
    path: 'callOutcomeTopic',
    expected: 'than that of heartbeatTopic',
  },
  { flags: ['--heartbeat-topic', 'alarms'], path: 'alarmTopic', expected: 'than that of heartbeatTopic' },
  { flags: ['--alarm-topic', 'ncmp-inventory-events'], path: '--alarm-topic', expected: 'of trustLevelNoticeTopic' },
  { flags: ['--e2t-messages-topic', 'pulsefold-keep-alive-journal'], path: '--e2t-messages-topic', expected: 'else' },
  { flags: ['--heartbeat-topic=a-dead-letters', '--application-id=a'], path: '--heartbeat-topic', expected: 'else' },
  { flags: ['--call-outcome-topic', 'e2t-commands'], path: '--call-outcome-topic', expected: 'nothing else' },
]
for (const { flags, ...fault } of unfit) {
  t.test(`refuses settings that do not go together: ${flags.join(' ')}`, async (t) => {
    const faults = faultsOf({ flags })
    t.equal(faults.length, 1)
    t.match(faults[0], fault)
  })
}

t.test('all faults of all sources are named at once, in one line each', async (t) => {
  const directory = t.testdir({ 'pulsefold.json': '{"httpPort":-1,"partition":3,"dmiHealthDeadlineMs":"x"}' })
  const input = {
    directory,
    environment: { PULSEFOLD_PARTITIONS: 'many', PULSEFOLD_NONE: 'x' },
    flags: ['--config', 'pulsefold.json', '--on-dmi-restart', 'x\ny', '--kafka-tls-ca-file', 'a'],
  }
  t.same(
    faultsOf(input).map((fault) => [fault.path, fault.source]),
    [
      ['"partition"', 'file'],
      ['httpPort', 'file'],
      ['dmiHealthDeadlineMs', 'file'],
      ['PULSEFOLD_PARTITIONS', 'environment'],
      ['PULSEFOLD_NONE', 'environment'],
      ['--on-dmi-restart', 'flag'],
      ['kafkaTls', 'default'],
    ],
  )
  t.throws(() => loadSettings(input), { code: 'SETTINGS_INVALID', message: /^the settings have 7 faults: [^\n]*$/ })
})

t.test('the printout tells every value and its source, and masks what is secret', async (t) => {
  const text = printSettings(
    loadSettings({
      environment: { PULSEFOLD_DMI_USERNAME: 'u', PULSEFOLD_DMI_PASSWORD: 'hush' },
      flags: ['--http-port=1'],
    }),
  )
  t.match(text, /^httpPort +1 {2}\(flag\)$/m)
  t.match(text, /^dmiPassword +\*\*\* {2}\(environment\)$/m)
  t.match(text, /^schemaRegistryUrl +"" {2}\(default\)$/m)
  t.notMatch(text, /hush/)
  t.equal(text.split('\n').length, settingNames.length)
})

t.test('a secret appears in no fault', async (t) => {
  for (const flag of ['--dmi-password', '--kafka-password']) {
    const faults = faultsOf({ flags: [flag, 'hush'] })
    t.equal(faults.length, 1)
    t.notMatch(JSON.stringify(faults), /hush/)
  }
})

t.test('the help names every flag', async (t) => {
  for (const name of settingNames) t.match(describeFlags(), `  ${flagOf(name)}\n`)
})
