import { dayMs, httpAddress, topicPattern } from './spec.js'
import type { SettingSpec } from './spec.js'

/** Health of external addresses, and alarms. */
export const addressHealthSettings = {
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
