import type { RegistrationFailure } from '../../../schemas/trust-level/journal-events.js'

/** What failed, by what was asked for. */
export type Failures = Readonly<Record<'created' | 'updated' | 'removed' | 'upgraded', RegistrationFailure[]>>

/** NCMP's response statuses that are given here; those of folds come with their own text. */
const TEXTS = {
  '108': 'Unknown error',
  '109': 'cm-handle already exists',
  '110': 'cm handle reference has an invalid character(s) in id',
} as const

export function failure(
  cmHandle: string,
  errorCode: keyof typeof TEXTS,
  errorText: string = TEXTS[errorCode],
): RegistrationFailure {
  return { cmHandle, errorCode, errorText }
}

export function hasFailures(failures: Failures): boolean {
  return Object.values(failures).some((list) => list.length > 0)
}

/** Upstream's body for a registration that failed in part; the last list has no "d". (trust levels, section 1.4) */
export function failureBody(failures: Failures): object {
  return {
    failedCreatedCmHandles: failures.created,
    failedUpdatedCmHandles: failures.updated,
    failedRemovedCmHandles: failures.removed,
    failedUpgradeCmHandles: failures.upgraded,
  }
}
