import { dayMs, httpAddress, topicPattern } from './spec.js'
import type { SettingSpec } from './spec.js'

/** Two sites. */
export const sitesSettings = {
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
} as const satisfies Readonly<Record<string, SettingSpec>>
