import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { settingsWith } from '../../../common/settings.js'
import { openArchive } from '../../../topology/archive/archive-source.js'
import { writeArchive } from '../../../topology/archive/write-archive.js'
import type { Audit } from '../../../topology/audit/audit.js'
import type { TopicPartition } from '../../../topology/log/log.js'
import { partitionOf } from '../../../topology/partitioner.js'
import { openEmbeddedReader } from '../../audit/embedded-reader.js'
import { scratchStores } from '../../audit/scratch-stores.js'
import { declaredProcessors } from '../../process/declared-processors.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { DOMAIN } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { longJournal } from '../long-journal.js'
import { measureCommand } from '../measured-command.js'
import type { Measured } from '../measured-command.js'
import { startService } from '../service.js'

const DEVICES = 60_000
const DAY_EVENTS = 86_400_000
/** A tenth of a day at 1,000 events a second; `BENCH_AUDIT_EVENTS` sets another number, such as a day's. */
const EVENTS = Number(process.env['BENCH_AUDIT_EVENTS'] ?? DAY_EVENTS / 10)
const ROUNDS = Math.max(10, Math.round(EVENTS / DEVICES / 10) * 10)
const ROUND_MS = 60_000
const MOST_MS = 2000
/** Every second device turns with each round; this one never does. */
const [TURNING, STILL] = ['ch-1', 'ch-2']

/** Questions about one key of an archive of a tenth of a day, and of a tenth of it; speed and memory of its replay. */
export async function audit(directory: string): Promise<readonly Figure[]> {
  const settings = settingsWith({ dataDir: join(directory, 'data') })
  const { timeMs, topic } = await beginJournal(settings.dataDir)
  const log = await openEmbeddedReader(settings.dataDir)
  const ends = await Promise.all(
    Array.from({ length: PARTITIONS }, async (_, partition) => (await log.offsets({ topic, partition })).end),
  )
  const scratch = scratchStores()
  const archive = join(directory, 'archive')
  await mkdir(archive)
  const auditing: Audit = {
    source: { reader: longJournal(log, { topic, ends, timeMs }, deviceIds(DEVICES), ROUNDS) },
    applicationId: settings.applicationId,
    processors: declaredProcessors(settings),
    openStore: () => scratch.openStore(),
  }
  const started = performance.now()
  const cpu = process.cpuUsage()
  await writeArchive(auditing, { directory: archive, domains: [DOMAIN], toTime: timeMs + (ROUNDS / 10) * ROUND_MS })
  const begunMs = performance.now() - started
  const begunCpuMs = cpuMsSince(cpu)
  const small = await ask(archive, timeMs, ROUNDS / 10)
  const resumed = performance.now()
  const resumedCpu = process.cpuUsage()
  await writeArchive(auditing, { directory: archive, domains: [DOMAIN] })
  const writtenMs = begunMs + performance.now() - resumed
  const writtenCpuMs = begunCpuMs + cpuMsSince(resumedCpu)
  const large = await ask(archive, timeMs, ROUNDS)
  await log.close()
  await scratch.remove()
  const partition = partitionOf(STILL, PARTITIONS)
  const grownMs = await growingWork(archive, { topic, partition })
  return figures(small, large, { writtenMs, writtenCpuMs, grownMs, bytes: await bytesOf(archive) })
}

/** CPU time of all that an answer reads the more of the longer an archive is: its lines, and merged keys. Of code that is warm. */
async function growingWork(archive: string, journal: TopicPartition): Promise<number> {
  await readGrowing(archive, journal)
  const before = process.cpuUsage()
  await readGrowing(archive, journal)
  return cpuMsSince(before)
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function readGrowing(archive: string, journal: TopicPartition): Promise<void> {
  const source = await openArchive(archive)
  const mergedTo = source.contents.mergedKeysOf(journal).at(-1)?.to ?? 0
  const keys = ['nobody']
  for (const part of await source.parts(journal)) if (part.to <= mergedTo) await part.changes(keys, 'decisive')
}

/** Devices registered with the service itself, which is then stopped; answers when the first round of heartbeats may come. */
async function beginJournal(dataDir: string): Promise<{ readonly timeMs: number; readonly topic: string }> {
  const service = await startService(dataDir)
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  await registerDevices(caller, plugin.address, deviceIds(DEVICES))
  caller.close()
  const { topic } = service.application.journal(DOMAIN)
  await service.stop()
  await plugin.close()
  return { timeMs: Date.now() + 1000, topic }
}

type Asked = Readonly<Record<'state' | 'explain' | 'explainStill' | 'replay', Measured>>

async function ask(archive: string, timeMs: number, rounds: number): Promise<Asked> {
  const at = ['--at', String(timeMs + Math.floor(rounds / 2) * ROUND_MS)]
  const of = ['--archive', archive, '--domain', DOMAIN, '--json']
  const [state, explain, explainStill, replay] = [
    await measureCommand('state', TURNING, ...at, ...of),
    await measureCommand('explain', TURNING, ...at, ...of),
    await measureCommand('explain', STILL, ...of),
    await measureCommand('replay', ...of),
  ]
  for (const { out } of [state, explain, explainStill]) {
    if (!/"trustLevel": "(NONE|COMPLETE)"/.test(out)) throw new Error(`no level in ${out.slice(0, 500)}`)
  }
  return { state, explain, explainStill, replay }
}

interface Written {
  readonly writtenMs: number
  readonly writtenCpuMs: number
  readonly grownMs: number
  readonly bytes: number
}

function figures(small: Asked, large: Asked, { writtenMs, writtenCpuMs, grownMs, bytes }: Written): readonly Figure[] {
  const events = ROUNDS * DEVICES
  const asked = (what: string, of: keyof Asked): Figure => {
    const compared = `${Math.round(small[of].cpuMs)} ms in a tenth of it`
    return { what: `${what}, CPU time`, value: large[of].cpuMs, unit: 'ms', atMost: MOST_MS, compared }
  }
  const more = Math.max(0, DAY_EVENTS / events - 1) * grownMs
  const perMillion = ((writtenCpuMs / events) * 1000).toFixed(1)
  const [first, second] = large.replay.halvesMb
  const grows = `what grows: ${Math.round(grownMs)} ms for lines and merged keys, so ${Math.round(more)} ms more`
  const ofDay: Figure = {
    what: `the same, of a day's ${DAY_EVENTS} events, reckoned`,
    value: large.explainStill.cpuMs + more,
    unit: 'ms',
    atMost: MOST_MS,
    compared: grows,
  }
  return [
    { what: `archive of ${events} events`, value: bytes / 1e6, unit: 'MB' },
    {
      what: 'written to it',
      value: (events / writtenMs) * 1000,
      unit: '/s',
      compared: `${perMillion} s of CPU time a million`,
    },
    asked('state of a key at a moment', 'state'),
    asked('explain of a key at a moment', 'explain'),
    asked('explain of a key that never changed', 'explainStill'),
    ...(events < DAY_EVENTS ? [ofDay] : []),
    { what: 'replay of it', value: (events / large.replay.ms) * 1000, unit: '/s', atLeast: 300_000 },
    {
      what: 'the same, memory at most in its second half',
      value: second,
      unit: 'MB',
      atMost: first * 1.1,
      compared: `a tenth more than in the first; ${Math.round(small.replay.peakMb)} MB for a tenth of it`,
    },
  ]
}

async function bytesOf(directory: string): Promise<number> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
