import { keepAliveTimes } from './keep-alive-times.js'
import type { SettingName, Settings } from './settings-schema.js'

/** What must hold between settings. Judged only when each of them is right by itself; answers what is expected. */
export interface SettingsRule {
  readonly names: readonly [blamed: SettingName, ...others: SettingName[]]
  readonly expected: (settings: Settings) => string | undefined
}

const ownPaths = [
  '/events',
  '/ops',
  '/audit',
  '/actuator',
  '/metrics',
  '/openapi.json',
  '/site',
  '/notification',
  '/external-platforms',
  '/v1',
  '/ric',
  '/e2t',
]
const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`)
const freeOfOwnPaths =
  (name: SettingName & `restApi${string}`) =>
  (settings: Settings): string | undefined =>
    ownPaths.some((path) => isBelow(settings[name], path))
      ? `a path that is not below ${ownPaths.join(', ')}`
      : undefined

/** What each holds is read or written by what is meant for it alone: two of one name, and records go round or are taken for others. */
const topicSettings = [
  'heartbeatTopic',
  'e2tMessagesTopic',
  'callOutcomeTopic',
  'trustLevelNoticeTopic',
  'alarmTopic',
] as const satisfies readonly SettingName[]
const ownTopic = /^(.+-(journal|changelog|digests)|dead-letters|health|site|sources)$/
const fixedTopics = ['e2t-keep-alive-requests', 'e2t-commands', 'ran-connection-events', 'ran-manipulation-events']

export const settingsRules: readonly SettingsRule[] = [
  ...topicSettings.map((name, at): SettingsRule => {
    const before = topicSettings.slice(0, at)
    return {
      names: [name, ...before, 'applicationId'],
      expected(settings) {
        const topic = settings[name]
        const same = before.find((other) => settings[other] === topic)
        if (same !== undefined) return `another topic than that of ${same}`
        const front = `${settings.applicationId}-`
        const isOwn = topic.startsWith(front) && ownTopic.test(topic.slice(front.length))
        return isOwn || fixedTopics.includes(topic) ? 'a topic that this application has for nothing else' : undefined
      },
    }
  }),
  {
    names: ['siteSharesLog', 'kafkaBrokers', 'sitePeerApplicationId', 'applicationId'],
    expected({ siteSharesLog, kafkaBrokers, sitePeerApplicationId, applicationId }) {
      if (!siteSharesLog) return undefined
      if (kafkaBrokers.length === 0) return 'false, as kafkaBrokers is empty'
      return ['', applicationId].includes(sitePeerApplicationId)
        ? 'false, as sitePeerApplicationId names no other application'
        : undefined
    },
  },
  {
    names: ['keepAliveDelayMs'],
    expected: ({ keepAliveDelayMs: delayMs }) => (delayMs > 0 && delayMs < 50 ? '0, or at least 50' : undefined),
  },
  {
    names: ['keepAliveResponseTimeoutMs', 'keepAliveDelayMs', 'keepAliveProfile'],
    expected(settings) {
      const { keepAliveDelayMs, keepAliveResponseTimeoutMs } = keepAliveTimes(settings.keepAliveProfile, settings)
      return keepAliveResponseTimeoutMs < keepAliveDelayMs
        ? `at least keepAliveDelayMs (${keepAliveDelayMs})`
        : undefined
    },
  },
  {
    names: ['kafkaSaslMechanism', 'kafkaUsername', 'kafkaPassword'],
    expected: (s) =>
      s.kafkaSaslMechanism === 'none' && (s.kafkaUsername !== '' || s.kafkaPassword !== '')
        ? 'a mechanism, as kafkaUsername or kafkaPassword is set'
        : undefined,
  },
  {
    names: ['kafkaUsername', 'kafkaSaslMechanism'],
    expected: (s) =>
      s.kafkaSaslMechanism !== 'none' && s.kafkaUsername === '' ? 'a name, as kafkaSaslMechanism is set' : undefined,
  },
  {
    names: ['kafkaPassword', 'kafkaSaslMechanism'],
    expected: (s) =>
      s.kafkaSaslMechanism !== 'none' && s.kafkaPassword === ''
        ? 'a password, as kafkaSaslMechanism is set'
        : undefined,
  },
  {
    names: ['kafkaTls', 'kafkaTlsCaFile', 'kafkaTlsCertFile', 'kafkaTlsKeyFile'],
    expected: (s) =>
      !s.kafkaTls && s.kafkaTlsCaFile + s.kafkaTlsCertFile + s.kafkaTlsKeyFile !== ''
        ? 'true, as a file for TLS is set'
        : undefined,
  },
  {
    names: ['kafkaTlsKeyFile', 'kafkaTlsCertFile'],
    expected: (s) =>
      s.kafkaTlsCertFile !== '' && s.kafkaTlsKeyFile === '' ? 'the key, as kafkaTlsCertFile is set' : undefined,
  },
  {
    names: ['kafkaTlsCertFile', 'kafkaTlsKeyFile'],
    expected: (s) =>
      s.kafkaTlsKeyFile !== '' && s.kafkaTlsCertFile === '' ? 'the certificate, as kafkaTlsKeyFile is set' : undefined,
  },
  {
    names: ['dmiHealthDeadlineMs', 'dmiHealthIntervalMs'],
    expected: (s) =>
      s.dmiHealthDeadlineMs >= s.dmiHealthIntervalMs
        ? `less than dmiHealthIntervalMs (${s.dmiHealthIntervalMs})`
        : undefined,
  },
  {
    names: ['changelogIntervalMs', 'commitIntervalMs'],
    expected: (s) =>
      s.changelogIntervalMs < s.commitIntervalMs ? `at least commitIntervalMs (${s.commitIntervalMs})` : undefined,
  },
  {
    names: ['dmiUsername', 'dmiPassword'],
    expected: (s) => (s.dmiUsername === '' && s.dmiPassword !== '' ? 'a name, as dmiPassword is set' : undefined),
  },
  {
    names: ['dmiPassword', 'dmiUsername'],
    expected: (s) => (s.dmiUsername !== '' && s.dmiPassword === '' ? 'a password, as dmiUsername is set' : undefined),
  },
  {
    names: ['allowedUrlPattern'],
    expected: ({ allowedUrlPattern }) => (isPattern(allowedUrlPattern) ? undefined : 'a regular expression, or empty'),
  },
  { names: ['restApiNcmpBasePath'], expected: freeOfOwnPaths('restApiNcmpBasePath') },
  { names: ['restApiNcmpInventoryBasePath'], expected: freeOfOwnPaths('restApiNcmpInventoryBasePath') },
  {
    names: ['restApiNcmpInventoryBasePath', 'restApiNcmpBasePath'],
    expected: ({ restApiNcmpInventoryBasePath: inventory, restApiNcmpBasePath: ncmp }) =>
      isBelow(inventory, ncmp) || isBelow(ncmp, inventory)
        ? `a path apart from restApiNcmpBasePath (${ncmp})`
        : undefined,
  },
]

function isPattern(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}
