import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { maskingOf } from '../../topology/archive/mask.js'
import { writeArchive } from '../../topology/archive/write-archive.js'
import { journalsOf } from '../../topology/audit/audit.js'
import { blockCodec } from '../../topology/journal/block-codec.js'
import { goldenAudit, scenarios } from '../golden/golden-journals.js'

const masks: Readonly<Record<string, readonly string[]>> = {
  'trust-level': ['*.cmHandle', '*.alternateId', '*.removed'],
  'keep-alive': ['*.address', '*.source', '*.podName'],
  'address-health': ['*.platform', '*.address', '*.addresses'],
}

/** Texts of at least four characters below members of these names. */
function textsIn(value: unknown, names: ReadonlySet<string>, isIn = false): readonly string[] {
  if (typeof value === 'string') return isIn && value.length >= 4 ? [value] : []
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return []
  return Object.entries(value).flatMap(([name, item]) => textsIn(item, names, isIn || names.has(name)))
}

for (const [domain, fields] of Object.entries(masks)) {
  t.test(`what is masked of the golden journal of ${domain} is nowhere in the archive`, async (t) => {
    const scenario = scenarios.find((one) => one.domain === domain)!
    const audit = await goldenAudit(scenario)
    const { reader } = audit.source
    const originals = new Set<string>()
    const journals = await journalsOf(audit)
    for (const { processor, journal } of journals) {
      const codec = blockCodec(processor.events)
      const { records } = await reader.read(journal, 0, { maxBytes: Infinity })
      const entries = records.flatMap(({ value }) => (value === null ? [] : codec.decode(value)))
      const names = new Set(fields.map((field) => field.replace('*.', '')))
      for (const text of entries.flatMap((one) => (one.kind === 'event' ? textsIn(one.event.data, names) : [])))
        originals.add(text)
    }
    t.ok(originals.size > 0)
    const topics = new Map(journals.map(({ processor, journal }) => [journal.topic, processor]))
    const masking = maskingOf(reader, topics, fields, Buffer.from('secret'))
    const directory = t.testdir()
    await writeArchive({ ...audit, source: { reader: masking.reader, masked: fields } }, { directory, masking })
    const found = readdirSync(directory, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
      const path = join(directory, name)
      if (!statSync(path).isFile()) return []
      const bytes = readFileSync(path)
      const content = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')
      return [...originals].filter((text) => content.includes(text)).map((text) => `${text} in ${name}`)
    })
    t.same(found, [])
  })
}
