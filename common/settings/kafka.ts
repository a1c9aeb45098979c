import { httpAddress, pemFile } from './spec.js'
import type { SettingSpec } from './spec.js'

/** The Kafka cluster that holds the log, and its schema registry. */
export const kafkaSettings = {
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
} as const satisfies Readonly<Record<string, SettingSpec>>
