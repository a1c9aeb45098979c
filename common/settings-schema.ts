import { keepAliveTimes } from './keep-alive-times.js'

/** The one table of all settings: from it come types, checks, the three spellings, the printout and the README's table. */

interface CommonSpec {
  readonly description: string
  /** Of numbers: `ms`, `bytes`; absent: a plain number. */
  readonly unit?: 'ms' | 'bytes'
  /** Shown as `***` wherever settings are shown. */
  readonly secret?: true
  /** What a right value is, for fault texts; by default told from type and bounds. */
  readonly expected?: string
}

/** A setting as JSON Schema, with the annotations of `CommonSpec`. */
export type SettingSpec = CommonSpec &
  (
    | { readonly type: 'integer'; readonly default: number; readonly minimum: number; readonly maximum: number }
    | { readonly type: 'boolean'; readonly default: boolean }
    | {
        readonly type: 'string'
        readonly default: string
        readonly enum?: readonly string[]
        readonly pattern?: string
        readonly maxLength?: number
      }
    | {
        readonly type: 'array'
        readonly default: readonly string[]
        readonly items: { readonly type: 'string'; readonly pattern: string }
        readonly minItems?: number
        readonly uniqueItems?: true
      }
  )

const dayMs = 24 * 60 * 60 * 1000
const longestMs = 10 * 365 * dayMs
const mebibyte = 1024 * 1024

// Kafka's own rule for topic names; an application id is the front part of one.
const topicPattern = '^(?!\\.{1,2}$)[A-Za-z0-9._-]+$'
const httpAddress = {
  type: 'string',
  default: '',
  pattern: '^(https?://[^\\s/?#@]+(/[^\\s?#]*)?)?$',
  expected: 'an http or https address without credentials, or empty',
} as const
const pemFile = {
  type: 'string',
  default: '',
  expected: 'the path of a PEM file, or empty',
} as const
const basePath = {
  type: 'string',
  pattern: '^(/[A-Za-z0-9._~-]+)+$',
  expected: 'a path that begins with / and does not end with /',
} as const

export const settingSpecs = {
  httpPort: {
    type: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'Port of all HTTP paths; 0 takes any free one.',
  },
  httpHost: {
    type: 'string',
    default: '127.0.0.1',
    pattern: '^[A-Za-z0-9.:_-]+$',
    expected: 'a host name or address',
    description: 'Address to listen on; `0.0.0.0` or `::` for all. Nothing here asks callers who they are.',
  },
  dataDir: {
    type: 'string',
    default: 'data',
    pattern: '\\S',
    expected: 'a directory',
    description:
      "Directory of the log and the stores, made when absent. A relative path counts from where the command runs, the default from the project's folder.",
  },
  logLevel: {
    type: 'string',
    default: 'info',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'Least level of the log lines on standard error.',
  },
  applicationId: {
    type: 'string',
    default: 'pulsefold',
    pattern: topicPattern,
    maxLength: 100,
    expected: 'at most 100 letters, digits, dots, dashes and underscores',
    description: 'Front part of the names of all own topics.',
  },
  domains: {
    type: 'array',
    default: ['trust-level', 'keep-alive', 'address-health'],
    items: { type: 'string', pattern: '^(trust-level|keep-alive|address-health)$' },
    minItems: 1,
    uniqueItems: true,
    expected: 'some of trust-level, keep-alive and address-health, separated by commas',
    description:
      'What runs: only the topics of these domains are made, asked for and read, and only their paths answer. The same at all instances.',
  },
  partitions: {
    type: 'integer',
    default: 12,
    minimum: 1,
    maximum: 1000,
    description: 'Partitions of the journals, fixed when they are first made.',
  },
  kafkaBrokers: {
    type: 'array',
    default: [],
    items: { type: 'string', pattern: '^[^\\s,/@]+:[0-9]{1,5}$' },
    expected: 'brokers as host:port, separated by commas, or empty',
    description: 'Brokers of the Kafka cluster that holds the log; some are enough. Empty: the embedded log.',
  },
  kafkaSaslMechanism: {
    type: 'string',
    default: 'none',
    enum: ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    description: 'How this instance tells the brokers who it is.',
  },
  kafkaUsername: {
    type: 'string',
    default: '',
    description: 'User name for the brokers.',
  },
  kafkaPassword: {
    type: 'string',
    default: '',
    secret: true,
    description: 'Its password. Better in the file or the environment: flags show in the list of processes.',
  },
  kafkaTls: {
    type: 'boolean',
    default: false,
    description: 'Talk to the brokers over TLS.',
  },
  kafkaTlsCaFile: {
    ...pemFile,
    description: 'Certificates of the authorities that the brokers are trusted by; empty: those that Node knows.',
  },
  kafkaTlsCertFile: {
    ...pemFile,
    description: "This instance's own certificate, for brokers that ask for one.",
  },
  kafkaTlsKeyFile: {
    ...pemFile,
    description: 'The private key of that certificate.',
  },
  kafkaSessionTimeoutMs: {
    type: 'integer',
    unit: 'ms',
    default: 6000,
    minimum: 1000,
    maximum: 1_800_000,
    description:
      'An instance that the brokers have not heard of for so long loses its partitions. Brokers have bounds of their own, usually 6 s and 30 min.',
  },
  schemaRegistryUrl: {
    ...httpAddress,
    description: 'Schema registry for heartbeats and call outcomes in Avro; empty: Avro is refused.',
  },
  advertisedUrl: {
    ...httpAddress,
    description: 'Address under which others reach this instance; empty: made of host and port.',
  },
  restApiNcmpBasePath: {
    ...basePath,
    default: '/ncmp',
    description: 'Northbound base path (NCMP: `rest.api.ncmp-base-path`).',
  },
  restApiNcmpInventoryBasePath: {
    ...basePath,
    default: '/ncmpInventory',
    description: 'Southbound base path, for DMI plugins (NCMP: `rest.api.ncmp-inventory-base-path`).',
  },
  commitIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 100,
    minimum: 1,
    maximum: 60_000,
    description:
      'Time between two commits of a task. While much of what was read waits to be folded, a commit gives way for up to two seconds more. Answers do not wait for it.',
  },
  changelogIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 1000,
    minimum: 1,
    maximum: 600_000,
    description: 'Time between two writes of a changelog; it bounds the time of a restore.',
  },
  stateCacheBytes: {
    type: 'integer',
    unit: 'bytes',
    default: 32 * mebibyte,
    minimum: mebibyte,
    maximum: 1024 * 1024 * mebibyte,
    description: 'Memory for cached state, all stores together.',
  },
  standbyReplicas: {
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 10,
    description: 'Copies of each task that other instances keep up to date, to take over or answer at once.',
  },
  stateCleanupDelayMs: {
    type: 'integer',
    unit: 'ms',
    default: 600_000,
    minimum: 1000,
    maximum: longestMs,
    description:
      'Local stores of partitions that are elsewhere by now are deleted after this time (Kafka Streams: `state.cleanup.delay.ms`). Until then one that comes back goes on from its store.',
  },
  journalRetentionMs: {
    type: 'integer',
    unit: 'ms',
    default: 7 * dayMs,
    minimum: 60_000,
    maximum: longestMs,
    description: 'How long journals are kept.',
  },
  maxFutureSkewMs: {
    type: 'integer',
    unit: 'ms',
    default: 300_000,
    minimum: 0,
    maximum: dayMs,
    description: "An event's own time further ahead than this is replaced by that of its arrival, and counted.",
  },
  createInputTopics: {
    type: 'boolean',
    default: false,
    description:
      'Make input topics that are missing on Kafka, with as many partitions as the journals. The embedded log has them always.',
  },
  heartbeatTopic: {
    type: 'string',
    default: 'dmi-device-heartbeat',
    pattern: topicPattern,
    maxLength: 200,
    expected: 'a topic name',
    description: 'Input topic of the device heartbeats.',
  },
  dmiHealthIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 30_000,
    minimum: 100,
    maximum: dayMs,
    description: 'A DMI plugin that goes down is seen within this time.',
  },
  dmiHealthDeadlineMs: {
    type: 'integer',
    unit: 'ms',
    default: 2000,
    minimum: 10,
    maximum: 60_000,
    description: 'Longest time of one health check, all its tries together.',
  },
  dmiHealthPaths: {
    type: 'array',
    default: ['/manage/health/readiness', '/actuator/health'],
    items: { type: 'string', pattern: '^/[^\\s,#]*$' },
    minItems: 1,
    uniqueItems: true,
    expected: 'different paths that begin with /, separated by commas',
    description: 'Health paths of a DMI plugin, tried in this order.',
  },
  dmiUsername: {
    type: 'string',
    default: '',
    pattern: '^[^:\\u0000-\\u001f]*$',
    expected: 'a name without colon, or empty',
    description: 'User name of the basic authorization of health checks; empty: none.',
  },
  dmiPassword: {
    type: 'string',
    default: '',
    secret: true,
    description: 'Its password. Better in the file or the environment: flags show in the list of processes.',
  },
  allowedUrlPattern: {
    type: 'string',
    default: '',
    description:
      'Regular expression for the addresses that DMI plugins may register, matched against the whole; empty: all but loopback, link-local, metadata services and the like. A pattern lifts those bans for what it matches: keep it narrow.',
    expected: 'a regular expression, or empty',
  },
  onDmiRestart: {
    type: 'string',
    default: 'complete',
    enum: ['complete', 'keep'],
    description: "When a plugin is back: `complete` sets its handles' own levels to COMPLETE, `keep` leaves them.",
  },
  trustLevelNotices: {
    type: 'boolean',
    default: true,
    description: 'Send each change of an effective level to `trustLevelNoticeTopic`.',
  },
  trustLevelNoticeTopic: {
    type: 'string',
    default: 'ncmp-inventory-events',
    pattern: topicPattern,
    maxLength: 200,
    expected: 'a topic name',
    description: 'Output topic of the changes of levels, made when it is missing.',
  },
  siteName: {
    type: 'string',
    default: 'primary',
    enum: ['primary', 'secondary'],
    description: 'Of two sites, which one this is.',
  },
  sitePeerUrl: {
    ...httpAddress,
    description: 'Address of the other site; empty: there is but one, and none is asked.',
  },
  sitePeerToken: {
    type: 'string',
    default: '',
    secret: true,
    description: 'What the two sites show each other, the same on both; empty: whoever reaches the paths is believed.',
  },
  sitePeerApplicationId: {
    type: 'string',
    default: '',
    pattern: `^$|${topicPattern}`,
    maxLength: 100,
    expected: 'as applicationId, or empty',
    description: 'The `applicationId` of the other site; empty: the same as here.',
  },
  siteSharesLog: {
    type: 'boolean',
    default: false,
    description:
      'Both sites use one Kafka cluster, under different applicationIds: the journals of the other are read there, not copied.',
  },
  siteManualWindowMs: {
    type: 'integer',
    unit: 'ms',
    default: 3 * 3_600_000,
    minimum: 60_000,
    maximum: 7 * dayMs,
    description: 'Least that a switch by request folds again from events.',
  },
  siteAutomaticWindowMs: {
    type: 'integer',
    unit: 'ms',
    default: 3_600_000,
    minimum: 60_000,
    maximum: 7 * dayMs,
    description: 'Least that an automatic switch folds again from events.',
  },
  siteAutomaticSwitch: {
    type: 'boolean',
    default: true,
    description: 'Take over unasked when the other site fails, and back on the primary when it is well again.',
  },
  siteCheckIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 10_000,
    minimum: 100,
    maximum: 600_000,
    description: "Between two checks of the other site's health address, a tenth more or less.",
  },
  siteFailureThreshold: {
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 100,
    description: 'Failed checks in a row after which the other site counts as failed.',
  },
  siteFailbackHoldOffMs: {
    type: 'integer',
    unit: 'ms',
    default: 600_000,
    minimum: 0,
    maximum: dayMs,
    description: 'The primary must have been well for so long before it takes back what was taken over automatically.',
  },
  sitePreloadTimeoutMs: {
    type: 'integer',
    unit: 'ms',
    default: 600_000,
    minimum: 1000,
    maximum: dayMs,
    description: 'A switch whose pre-load takes longer has failed; the old site stays active.',
  },
  siteHealthIntervalMs: {
    type: 'integer',
    unit: 'ms',
    default: 5000,
    minimum: 50,
    maximum: 600_000,
    description: 'Between two checks of the own components; three in a row turn `/notification/healthCheck`.',
  },
  auditToken: {
    type: 'string',
    default: '',
    secret: true,
    description:
      'Token that callers of `/audit`, and readers of journals over `/ops/topics`, send as `Authorization: Bearer`; empty: only callers on this machine are answered. Better in the file or the environment.',
  },
  settingsActor: {
    type: 'string',
    default: '',
    maxLength: 255,
    expected: 'a text of at most 255 characters',
    description:
      'Who answers for the settings, as audits tell where they change; empty: the user that the process runs as.',
  },
  settingsReason: {
    type: 'string',
    default: '',
    maxLength: 255,
    expected: 'a text of at most 255 characters',
    description: 'Why the settings are as they are, told along with it.',
  },
  pendingLevelMs: {
    type: 'integer',
    unit: 'ms',
    default: 300_000,
    minimum: 0,
    maximum: dayMs,
    description: 'How long the level of a handle that is not registered yet waits for its registration.',
  },
  e2tMessagesTopic: {
    type: 'string',
    default: 'e2t-messages',
    pattern: topicPattern,
    maxLength: 200,
    expected: 'a topic name',
    description: 'Input topic of the messages from E2 terminations.',
  },
  ricId: {
    type: 'string',
    default: 'AACCE',
    pattern: '^[0-9A-Fa-f]{5}$',
    expected: 'five hexadecimal digits',
    description: 'The RIC of messages that name none, and of the paths below `/v1` (E2 Manager: `globalRicId.ricId`).',
  },
  ricMcc: {
    type: 'string',
    default: '310',
    pattern: '^[0-9]{3}$',
    expected: 'three digits',
    description: "Country code of the RIC's PLMN (E2 Manager: `globalRicId.mcc`).",
  },
  ricMnc: {
    type: 'string',
    default: '411',
    pattern: '^[0-9]{2,3}$',
    expected: 'two or three digits',
    description: "Network code of the RIC's PLMN (E2 Manager: `globalRicId.mnc`).",
  },
  keepAliveProfile: {
    type: 'string',
    default: 'default',
    enum: ['default', 'upstream'],
    description:
      'Times of the keep-alive of E2T instances: `default` 500, 1,500 and 15,000 ms, `upstream` 1,500, 4,500 and 15,000 ms.',
  },
  keepAliveDelayMs: {
    type: 'integer',
    unit: 'ms',
    default: 0,
    minimum: 0,
    maximum: 600_000,
    description: 'Time between two keep-alive requests, at least 50; 0: that of the profile.',
  },
  keepAliveResponseTimeoutMs: {
    type: 'integer',
    unit: 'ms',
    default: 0,
    minimum: 0,
    maximum: 3_600_000,
    description: 'An E2T instance without an answer for longer is killed; 0: that of the profile.',
  },
  e2tInstanceDeletionTimeoutMs: {
    type: 'integer',
    unit: 'ms',
    default: 0,
    minimum: 0,
    maximum: 3_600_000,
    description: 'A killed E2T instance is forgotten after this time at the latest; 0: that of the profile.',
  },
  bigRedButtonTimeoutMs: {
    type: 'integer',
    unit: 'ms',
    default: 5000,
    minimum: 0,
    maximum: 60_000,
    description: 'RANs that are still shutting down this long after the Red Button are shut down.',
  },
  askForInit: {
    type: 'boolean',
    default: false,
    description:
      'Ask an E2T instance that answers and is not known for its init: `org.oran.e2.SEND_INIT` on `e2t-commands`.',
  },
  routingManagerUrl: {
    ...httpAddress,
    description:
      'Base address of the Routing Manager, as `http://host:3800/ric/v1/handles/`; empty: there is none, and what it would be told counts as told.',
  },
  onRoutingManagerFailure: {
    type: 'string',
    default: 'keep',
    enum: ['keep', 'fail'],
    description:
      'When the Routing Manager cannot be told of an association: `keep` lets it stand and goes on trying, `fail` waits for three tries and refuses the setup.',
  },
  kubernetesNamespace: {
    type: 'string',
    default: '',
    pattern: '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$',
    expected: 'a namespace, or empty',
    description:
      'Namespace in which pods of silent E2T instances are deleted, by the configuration of kubectl or the service account; empty: none is.',
  },
  callOutcomeTopic: {
    type: 'string',
    default: 'sis-call-outcomes',
    pattern: topicPattern,
    maxLength: 200,
    expected: 'a topic name',
    description: 'Input topic of the outcomes of calls to external platforms.',
  },
  outcomeIdLimit: {
    type: 'integer',
    default: 10_000,
    minimum: 1,
    // They are one row, which is one record of the changelog.
    maximum: 50_000,
    description:
      'Calls remembered for each address and interval, to know a repeated outcome; 16 bytes each. Those beyond it are counted unchecked.',
  },
  alarmTopic: {
    type: 'string',
    default: 'alarms',
    pattern: topicPattern,
    maxLength: 200,
    expected: 'a topic name',
    description: 'Output topic of the alarms, made when it is missing.',
  },
  alertmanagerUrl: {
    ...httpAddress,
    description: 'Alertmanager that is told of alarms by its v2 API; empty: none is.',
  },
  alertmanagerRepeatMs: {
    type: 'integer',
    unit: 'ms',
    default: 60_000,
    minimum: 1000,
    maximum: dayMs,
    description:
      'How often Alertmanager is told again of an alarm that stands; four times that long it keeps one untold.',
  },
} as const satisfies Readonly<Record<string, SettingSpec>>

export type SettingName = keyof typeof settingSpecs

type ValueOf<Spec> = Spec extends { type: 'integer' }
  ? number
  : Spec extends { type: 'boolean' }
    ? boolean
    : Spec extends { type: 'array' }
      ? readonly string[]
      : Spec extends { enum: readonly (infer Word)[] }
        ? Word
        : string

/** All settings with their values: complete, checked, frozen. Durations in ms, sizes in bytes; an empty text: none. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof settingSpecs)[Name]> }

export const settingNames = Object.keys(settingSpecs) as readonly SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingSpecs, name)
}

export function specOf(name: SettingName): SettingSpec {
  return settingSpecs[name]
}

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

export const settingsRules: readonly SettingsRule[] = [
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
