import type { Settings } from '../common/settings.js'
import type { SchemaRegistry } from '../schemas/registry/schema-registry.js'
import { names } from '../topology/names.js'
import type { Effector, Processor } from '../topology/processor.js'
import { keepAliveTimes } from '../common/keep-alive-times.js'
import { keepAlive } from './keep-alive/index.js'
import { addressHealth } from './address-health/index.js'
import { trustLevel } from './trust-level/index.js'

/** What domains are made of besides settings: their ways to the outside. */
export interface ProcessorParts {
  readonly settings: Settings
  /** Absent: Avro input is refused. */
  readonly registry?: SchemaRegistry
  /** Carries out `dmi-health-check`. */
  readonly dmiHealthCheck: Effector
  /** Calls of the Routing Manager, and what is done to pods. */
  readonly keepAliveEffectors: readonly Effector[]
  /** Carries out `alertmanager-post`. */
  readonly alertmanager: Effector
  /** Who answers for the settings; absent: nobody is named. */
  readonly settingsBy?: Processor['settingsBy']
  /** 0 to 1, for answers that share load; no fold uses it. */
  readonly random: () => number
}

/** The list of what there is: one entry a domain. */
const domains: Readonly<Record<string, (parts: ProcessorParts) => Processor>> = {
  'trust-level': ({ settings, registry, dmiHealthCheck }) =>
    trustLevel({
      settings: {
        onDmiRestart: settings.onDmiRestart,
        trustLevelNotices: settings.trustLevelNotices,
        trustLevelNoticeTopic: settings.trustLevelNoticeTopic,
        pendingLevelMs: settings.pendingLevelMs,
        maxFutureSkewMs: settings.maxFutureSkewMs,
        dmiHealthIntervalMs: settings.dmiHealthIntervalMs,
        dmiHealthDeadlineMs: settings.dmiHealthDeadlineMs,
      },
      heartbeatTopic: settings.heartbeatTopic,
      journalTopic: names.journal(settings.applicationId, 'trust-level'),
      ...(registry !== undefined && { registry }),
      effectors: [dmiHealthCheck],
    }),
  'keep-alive': ({ settings, keepAliveEffectors }) =>
    keepAlive({
      settings: {
        ...keepAliveTimes(settings.keepAliveProfile, settings),
        bigRedButtonTimeoutMs: settings.bigRedButtonTimeoutMs,
        onRoutingManagerFailure: settings.onRoutingManagerFailure,
        askForInit: settings.askForInit,
        kubernetesNamespace: settings.kubernetesNamespace,
        globalRicMcc: settings.ricMcc,
        globalRicMnc: settings.ricMnc,
      },
      messagesTopic: settings.e2tMessagesTopic,
      ricId: settings.ricId,
      effectors: keepAliveEffectors,
    }),
  'address-health': ({ settings, registry, alertmanager, random }) =>
    addressHealth({
      settings: {
        outcomeIdLimit: settings.outcomeIdLimit,
        maxFutureSkewMs: settings.maxFutureSkewMs,
        alarmTopic: settings.alarmTopic,
        alertmanager: settings.alertmanagerUrl !== '',
        alertmanagerRepeatMs: settings.alertmanagerRepeatMs,
      },
      callOutcomeTopic: settings.callOutcomeTopic,
      ...(registry !== undefined && { registry }),
      random,
      effectors: [alertmanager],
    }),
}

/** What runs: the domains that the settings name. */
export const processors = (parts: ProcessorParts): readonly Processor[] => {
  const { settings, settingsBy } = parts
  const running = Object.entries(domains).filter(([name]) => settings.domains.includes(name))
  return running.map(([, domain]) => ({ ...domain(parts), ...(settingsBy && { settingsBy }) }))
}
