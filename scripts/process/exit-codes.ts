import { constants } from 'node:os'
import { describeFault } from '../../common/settings-faults.js'
import { SettingsError } from '../../common/settings.js'

/** Why the process ended, for whoever supervises it; as in BSD's sysexits. */
export const exitCodes = {
  stopped: {
    code: 0,
    meaning:
      'stopped on request; if something could not be committed the log tells it, and the next start folds it again',
  },
  misused: { code: 64, meaning: 'the command line is wrong' },
  damaged: { code: 65, meaning: 'what is read is not as it was written: the log on disk, or an archive' },
  unavailable: {
    code: 69,
    meaning:
      'something needed is missing or taken: Node, packages, the port, the data directory, the brokers, the Pulsefold or registry that a command asks',
  },
  failed: { code: 70, meaning: 'an error inside; the last line of the log tells it' },
  stopTooSlow: { code: 75, meaning: 'stopping took too long; nothing acknowledged is lost, the next start catches up' },
  misconfigured: {
    code: 78,
    meaning: 'the settings are wrong, and all faults were named; or they do not fit the topics that are there',
  },
} as const

const byErrorCode: Readonly<Record<string, keyof typeof exitCodes>> = {
  SETTINGS_INVALID: 'misconfigured',
  TOPIC_MISMATCH: 'misconfigured',
  STORE_IN_USE: 'unavailable',
  STORE_NOT_A_DIRECTORY: 'unavailable',
  STORE_WRITE_FAILED: 'unavailable',
  STORE_UNAVAILABLE: 'unavailable',
  LOG_DIRECTORY_IN_USE: 'unavailable',
  AUDIT_SOURCE_UNREADABLE: 'unavailable',
  AUDIT_SOURCE_IN_USE: 'unavailable',
  AUDIT_ACCESS_DENIED: 'unavailable',
  AUDIT_NOTHING_TO_READ: 'unavailable',
  AUDIT_MOMENT_INVALID: 'misused',
  AUDIT_QUERY_UNKNOWN: 'misused',
  AUDIT_SETTING_UNKNOWN: 'misused',
  AUDIT_SETTING_INVALID: 'misused',
  BODY_INVALID: 'misused',
  ARCHIVE_UNREADABLE: 'unavailable',
  ARCHIVE_IN_USE: 'unavailable',
  ARCHIVE_MASK_INVALID: 'misused',
  ARCHIVE_OTHER: 'misused',
  ARCHIVE_DAMAGED: 'damaged',
  LOG_DAMAGED: 'damaged',
  LOG_UNAVAILABLE: 'unavailable',
  REGISTRY_UNAVAILABLE: 'unavailable',
  PULSEFOLD_NOT_REACHED: 'unavailable',
  SIMULATION_NO_ANSWER: 'unavailable',
  EADDRINUSE: 'unavailable',
  EADDRNOTAVAIL: 'unavailable',
  EACCES: 'unavailable',
  EPERM: 'unavailable',
  ENOTDIR: 'unavailable',
  EEXIST: 'unavailable',
  EROFS: 'unavailable',
  ENOTFOUND: 'unavailable',
}

/** A command was ended from outside before it had its answer: the exit code is as of a process that the signal ends. */
export class EndedBySignal extends Error {
  readonly exitCode: number

  constructor(signal: NodeJS.Signals) {
    super(`ended by ${signal} before the answer`)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/** For a help text. */
export function describeExitCodes(): string {
  return Object.values(exitCodes)
    .map(({ code, meaning }) => `  ${String(code).padStart(2)}  ${meaning}`)
    .join('\n')
}

/** The exit code for an error that ends the process. */
export function exitCodeOf(error: Error): number {
  if (error instanceof EndedBySignal) return error.exitCode
  return exitCodes[byErrorCode[codeOf(tellingOf(error)) ?? ''] ?? 'failed'].code
}

/** What happened and what to do, in words for the one who started it; of settings a line for each fault. */
export function explain(thrown: Error): string {
  const error = tellingOf(thrown)
  if (error instanceof SettingsError) {
    return ['the settings are wrong:', ...error.faults.map((fault) => `  ${describeFault(fault)}`)].join('\n')
  }
  // One that comes from another thread has the class no more.
  if ('action' in error && typeof error.action === 'string') return `${error.message}. ${error.action}`
  const { address, port, path } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  const place = port === undefined ? (path ?? '') : `port ${port} of ${address ?? 'this machine'}`
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `${place} is taken by another process. Stop it, or choose another port with --http-port.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no such address to listen on (${error.message}). Correct --http-host.`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${place} cannot be made, as something that is not a directory is in its way. Move it, or choose another --data-dir.`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${place} may not be used by this user (${error.message}). Choose another, or give the right.`
    default:
      return error.message
  }
}

/** Of an error and its causes the first that says what is in the way; none: the error itself. */
function tellingOf(error: Error): Error {
  for (let link: unknown = error; link instanceof Error; link = link.cause) {
    if (Object.hasOwn(byErrorCode, codeOf(link) ?? '')) return link
  }
  return error
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
