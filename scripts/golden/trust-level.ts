import type { DmiPluginAnswer } from '../../schemas/trust-level/journal-events.js'
import { partitionOf } from '../../topology/partitioner.js'
import type { Actor, Scenario } from './scenario.js'

const PLUGIN = 'http://dmi-1:8080'
const isUp = new Map<string, boolean>()

/** Registrations, reports late and early, a plugin that goes and returns, a removal, a restart. */
export const trustLevelScenario: Scenario = {
  domain: 'trust-level',
  perform({ target }) {
    const up = isUp.get(target) ?? true
    const data = { plugin: target, up, healthPath: '/actuator/health', reason: up ? 'status UP' : 'refused' }
    return { type: 'DmiPluginChecked', data }
  },
  async play(actor) {
    const { driver } = actor
    isUp.clear()
    await report(actor, 'early', 'NONE', 0)
    await register(actor, { created: ['dev-1', 'dev-2', 'dev-3', 'early'] })
    for (let i = 0; i < 10; i++) {
      await report(actor, `dev-${1 + (i % 3)}`, i % 4 === 0 ? 'NONE' : 'COMPLETE', i % 5 === 0 ? -5000 : 0)
      await driver.advance(500)
    }
    await report(actor, 'dev-1', 'NONE', 3_600_000)
    await report(actor, 'nobody', 'NONE', 0)
    isUp.set(PLUGIN, false)
    await driver.advance(40_000, 500)
    isUp.set(PLUGIN, true)
    await driver.advance(40_000, 500)
    await register(actor, { removed: ['dev-2'] })
    await report(actor, 'dev-2', 'COMPLETE', -1000)
    await driver.stop()
    await driver.start()
    await report(actor, 'dev-3', 'NONE', 0)
    await driver.advance(301_000, 5000)
  },
}

async function report(
  { driver, ingest }: Actor,
  cmHandle: string,
  trustLevel: string,
  offsetMs: number,
): Promise<void> {
  const eventTime = driver.clock.now() + offsetMs
  const said = { eventTime, eventTimeSource: 'CE_TIME', producer: 'golden' }
  const eventType = 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel'
  await ingest(cmHandle, 'HeartbeatReported', { cmHandle, trustLevel, ...said, eventType })
}

async function register(
  { command }: Actor,
  { created = [], removed = [] }: { readonly created?: readonly string[]; readonly removed?: readonly string[] },
): Promise<void> {
  const { plugin } = (await command(PLUGIN, 'DmiPluginRegistered', { plugin: PLUGIN })) as DmiPluginAnswer
  const none = { dmiModelPlugin: '', dmiDatajobsReadPlugin: '', dmiDatajobsWritePlugin: '' }
  const plugins = { dmiPlugin: PLUGIN, dmiDataPlugin: '', ...none }
  for (const partition of [0, 1]) {
    const isHere = (id: string): boolean => partitionOf(id, 2) === partition
    const creations = created.filter(isHere).map((cmHandle) => ({
      cmHandle,
      alternateId: '',
      moduleSetTag: 'tag',
      dataProducerIdentifier: '',
      cmHandleStatus: '',
      trustLevel: null,
      publicProperties: [{ name: 'Größe', value: '字😀' }],
      additionalProperties: [],
    }))
    const data = { plugins, plugin, claimId: '', removed: removed.filter(isHere), created: creations }
    await command({ partition }, 'CmHandlesRegistered', { ...data, updated: [], upgraded: [] })
  }
}
