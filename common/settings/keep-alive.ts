import { httpAddress, topicPattern } from './spec.js'
import type { SettingSpec } from './spec.js'

/** Keep-alive of E2T instances. */
export const keepAliveSettings = {
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
} as const satisfies Readonly<Record<string, SettingSpec>>
