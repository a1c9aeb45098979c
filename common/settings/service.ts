import { basePath, httpAddress, topicPattern } from './spec.js'
import type { SettingSpec } from './spec.js'

/** How an instance runs, and who may ask it. */
export const serviceSettings = {
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
  auditToken: {
    type: 'string',
    default: '',
    secret: true,
    description:
      'Token that callers of `/audit`, and readers of journals over `/ops/topics`, send as `Authorization: Bearer`; empty: only callers on this machine are answered. Better in the file or the environment.',
  },
  auditArchive: {
    type: 'string',
    default: '',
    expected: 'a directory',
    description:
      'Directory of an archive of these journals, which `archive` goes on writing: `/audit/state` and `/audit/explain` read from it what the log no longer has and begin at its snapshots. Empty: they fold from the start of the log.',
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
} as const satisfies Readonly<Record<string, SettingSpec>>
