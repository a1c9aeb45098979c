import { dayMs, topicPattern } from './spec.js'
import type { SettingSpec } from './spec.js'

/** Trust levels of cm handles, and the DMI plugins. */
export const trustLevelSettings = {
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
  pendingLevelMs: {
    type: 'integer',
    unit: 'ms',
    default: 300_000,
    minimum: 0,
    maximum: dayMs,
    description: 'How long the level of a handle that is not registered yet waits for its registration.',
  },
} as const satisfies Readonly<Record<string, SettingSpec>>
