import fc from 'fast-check'
import t from 'tap'
import {
  forbiddenTarget,
  isLoopbackHost,
  normalisePluginAddress,
  pluginAddressPolicy,
  type PluginAddressSettings,
} from './plugin-address.js'

const settings: PluginAddressSettings = {
  httpHost: '0.0.0.0',
  httpPort: 8080,
  advertisedUrl: '',
  allowedUrlPattern: '',
}
const policyOf = (changes: Partial<PluginAddressSettings> = {}) =>
  pluginAddressPolicy({ ...settings, ...changes }, ['10.1.2.3', 'fd00::3'])
const outward = policyOf()
const onLoopback = policyOf({ httpHost: '127.0.0.1' })

t.test('IV-11 an address has one form: trailing slashes, case and default ports make no other plugin', async (t) => {
  const forms: readonly (readonly [text: string, address: string])[] = [
    ['http://dmi-a:8081', 'http://dmi-a:8081'],
    ['http://dmi-a:8081/', 'http://dmi-a:8081'],
    ['http://dmi-a:8081///', 'http://dmi-a:8081'],
    ['HTTP://DMI-B:8081', 'http://dmi-b:8081'],
    ['http://dmi-a:80', 'http://dmi-a'],
    ['https://dmi-a:443/', 'https://dmi-a'],
    ['https://dmi-a:80/', 'https://dmi-a:80'],
    ['http://dmi-a/Plugins/One/', 'http://dmi-a/Plugins/One'],
    ['http://dmi-a/x/../y/', 'http://dmi-a/y'],
    ['http://10.0.0.7:8081', 'http://10.0.0.7:8081'],
    ['http://192.168.1.1', 'http://192.168.1.1'],
    ['http://[FD00:0::7]:8081/', 'http://[fd00::7]:8081'],
    ['http://dmi_a.example.com', 'http://dmi_a.example.com'],
  ]
  for (const [text, address] of forms) {
    t.same(normalisePluginAddress(text, outward), { ok: true, address }, text)
    t.same(normalisePluginAddress(address, outward), { ok: true, address }, `${address} stays as it is`)
  }
})

t.test(
  'SE-01 what is no plain http address of another host is refused, with a reason that repeats nothing',
  async (t) => {
    const texts: readonly (readonly [text: string, reason: RegExp])[] = [
      ['', /not an http or https URL/],
      ['dmi-a:8081', /not an http or https URL/],
      ['file:///etc/passwd', /not an http or https URL/],
      ['ftp://dmi-a/', /not an http or https URL/],
      ['http:dmi-a', /not an http or https URL/],
      ['http:///dmi-a', /not an http or https URL/],
      [' http://dmi-a', /not an http or https URL/],
      ['http://user:secret@dmi-a/', /credentials/],
      ['http://user@dmi-a', /credentials/],
      ['http://host@evil/', /credentials/],
      ['http://@evil/', /credentials/],
      ['http://dmi-a\\@evil/', /backslash/],
      ['http://dmi-a/\tx', /white space/],
      ['http://dmi-a/x y', /white space/],
      ['http://dmi-a/?x=1', /query/],
      ['http://dmi-a/#x', /fragment/],
      ['http://dmi-a?', /query/],
      ['http://dmi-a:99999', /not a valid URL/],
      ['http://dmi-a:0', /not a valid URL/],
      ['http://[::1', /not a valid URL/],
      ['http://dmi-a/' + 'x'.repeat(2048), /longer than 2048/],
      ['http://dmi-a/' + 'ä'.repeat(1000), /longer than 2048/],
    ]
    for (const [text, reason] of texts) {
      const result = normalisePluginAddress(text, onLoopback)
      t.match(result, { ok: false, reason }, text.slice(0, 40))
      t.notMatch(result, { reason: /secret|evil/ }, 'says nothing of the text')
    }
  },
)

const LOOPBACK = [
  'http://127.0.0.1:8081',
  'http://127.9.9.9:8081',
  'http://2130706433:8081',
  'http://0x7f.1:8081',
  'http://0177.0.0.1:8081',
  'http://127.1:8081',
  'http://%31%32%37.0.0.1:8081',
  'http://①②⑦.0.0.1:8081',
  'http://[::1]:8081/',
  'http://[::ffff:127.0.0.1]:8081',
  'http://[::ffff:7f00:1]:8081',
  'http://[::127.0.0.1]:8081',
  'http://[64:ff9b::127.0.0.1]:8081',
  'http://[2002:7f00:1::]:8081',
  'http://localhost:8081',
  'http://LOCALHOST.:8081',
  'http://dmi.localhost:8081',
]

t.test('SE-01 loopback, in any spelling, is allowed only while the service listens on loopback only', async (t) => {
  for (const text of LOOPBACK) {
    t.match(normalisePluginAddress(text, outward), { ok: false, reason: /loopback/ }, text)
    t.match(normalisePluginAddress(text, onLoopback), { ok: true }, `${text} beside a service on loopback`)
  }
})

t.test(
  'SE-01 link-local, metadata, unspecified and multicast targets are refused wherever the service listens',
  async (t) => {
    const texts = [
      'http://169.254.169.254/',
      'http://169.254.1.1:8081',
      'http://[::ffff:169.254.169.254]/',
      'http://[64:ff9b::a9fe:a9fe]/',
      'http://[fe80::1]:8081',
      'http://[fd00:ec2::254]/',
      'http://100.100.100.200/',
      'http://0.0.0.0:8081',
      'http://0:8081',
      'http://[::]:8081',
      'http://224.0.0.1',
      'http://[ff02::1]',
      'http://255.255.255.255',
    ]
    for (const text of texts) {
      for (const policy of [outward, onLoopback]) t.match(normalisePluginAddress(text, policy), { ok: false }, text)
    }
  },
)

t.test('SE-01 the own address and port are refused always, also when the allow-list names them', async (t) => {
  const advertised = { advertisedUrl: 'http://Pulsefold-0.example:9000', allowedUrlPattern: '.*' }
  const own: readonly (readonly [text: string, policy: ReturnType<typeof policyOf>])[] = [
    ['http://127.0.0.1:8080', onLoopback],
    ['http://localhost:8080/', onLoopback],
    ['http://[::1]:8080/', onLoopback],
    ['http://10.1.2.3:8080', outward],
    ['http://[fd00:0::3]:8080', outward],
    ['http://0.0.0.0:8080', policyOf({ allowedUrlPattern: '.*' })],
    ['http://pulsefold-0.example:9000', policyOf(advertised)],
    ['http://192.168.7.7:8080', policyOf({ httpHost: '192.168.7.7', allowedUrlPattern: '.*' })],
  ]
  for (const [text, policy] of own) {
    t.match(normalisePluginAddress(text, policy), { ok: false, reason: /service itself/ }, text)
  }
  t.ok(normalisePluginAddress('http://10.1.2.3:8081', outward).ok, 'another port of the own host may be a plugin')
})

t.test(
  'the allow-list pattern must match the whole normalised address, and may name what is refused else',
  async (t) => {
    const policy = policyOf({ allowedUrlPattern: 'http://dmi-[a-z]+:8081|http://(localhost|127\\.0\\.0\\.1):8081' })
    for (const text of ['http://dmi-a:8081/', 'HTTP://DMI-B:8081', 'http://127.0.0.1:8081', 'http://localhost:8081']) {
      t.match(normalisePluginAddress(text, policy), { ok: true }, text)
    }
    for (const text of [
      'http://dmi-a:8082',
      'http://dmi-a:8081/path',
      'http://evil/http://dmi-a:8081',
      'http://dmi-a',
    ]) {
      t.match(normalisePluginAddress(text, policy), { ok: false, reason: /allowedUrlPattern/ }, text)
    }
  },
)

t.test('SE-01 what a name resolves to is checked as the address itself is', async (t) => {
  const named = policyOf({ allowedUrlPattern: 'http://[a-z.]+:8081|http://169\\.254\\.1\\.1:8081' })
  const targets: readonly (readonly [
    address: string,
    ip: string,
    policy: ReturnType<typeof policyOf>,
    reason: RegExp | null,
  ])[] = [
    ['http://dmi-a:8081', '10.0.0.7', outward, null],
    ['http://dmi-a:8081', '203.0.113.9', outward, null],
    ['http://dmi-a:8081', '127.0.0.1', outward, /loopback/],
    ['http://dmi-a:8081', '::1', outward, /loopback/],
    ['http://dmi-a:8081', '::ffff:127.0.0.1', outward, /loopback/],
    ['http://dmi-a:8081', '127.0.0.1', onLoopback, null],
    ['http://dmi-a:8080', '127.0.0.1', onLoopback, /service itself/],
    ['http://dmi-a:8080', '10.1.2.3', outward, /service itself/],
    ['http://dmi-a', '169.254.169.254', onLoopback, /link-local/],
    ['http://dmi-a:8081', 'fe80::1%eth0', outward, /link-local/],
    ['http://dmi-a:8081', 'fd00:ec2::254', outward, /metadata/],
    ['http://dmi-a:8081', '127.0.0.1', named, /loopback/],
    ['http://dmi-a:8081', '169.254.1.1', named, null],
    ['http://localhost:8081', '127.0.0.1', named, null],
    ['http://localhost:8081', '169.254.1.2', named, /link-local/],
  ]
  for (const [address, ip, policy, reason] of targets) {
    const forbidden = forbiddenTarget(address, ip, policy)
    if (reason === null) t.equal(forbidden, null, `${address} at ${ip}`)
    else t.match(forbidden, reason, `${address} at ${ip}`)
  }
})

t.test('loopback hosts are known by name and by number', async (t) => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '::1', '[::1]']) t.ok(isLoopbackHost(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'dmi-a', 'localhost.example.com'])
    t.notOk(isLoopbackHost(host), host)
})

t.test('whatever the text is, a normalised address is stable and holds no credentials', async () => {
  const part = fc.constantFrom(
    'http',
    'https',
    'HTTP',
    ':',
    '//',
    '/',
    '@',
    'dmi-a',
    '127.1',
    '[::1]',
    '..',
    ':80',
    '?',
  )
  const text = fc.oneof(
    fc.webUrl({ withQueryParameters: true }),
    fc.array(part, { maxLength: 8 }).map((p) => p.join('')),
  )
  fc.assert(
    fc.property(text, (value) => {
      const result = normalisePluginAddress(value, outward)
      if (!result.ok) return
      const again = normalisePluginAddress(result.address, outward)
      const url = new URL(result.address)
      if (!again.ok || again.address !== result.address || url.username !== '' || result.address.endsWith('/')) {
        throw new Error(`${value} became ${result.address}`)
      }
    }),
    { seed: 20261130, numRuns: 2000 },
  )
})
