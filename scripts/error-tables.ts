import { e2Errors } from '../api/e2/errors.js'
import { apiErrors } from '../api/errors.js'
import type { ErrorSpec, ErrorTable } from '../common/errors.js'
import { settingsErrors } from '../common/settings.js'
import { addressHealthErrors } from '../processors/address-health/errors.js'
import { trustLevelErrors } from '../processors/trust-level/errors.js'
import { callOutcomeErrors } from '../schemas/address-health/errors.js'
import { inputErrors } from '../schemas/input-errors.js'
import { e2tMessageErrors } from '../schemas/keep-alive/errors.js'
import { registryErrors } from '../schemas/registry/errors.js'
import { storeErrors } from '../state-stores/errors.js'
import { peerErrors } from '../topology/cluster/errors.js'
import { archiveErrors } from '../topology/archive/errors.js'
import { auditErrors } from '../topology/audit/errors.js'
import { engineErrors } from '../topology/errors.js'
import { logErrors } from '../topology/log/errors.js'
import { operatorErrors } from './commands/operator-errors.js'
import { resetErrors } from './reset/errors.js'
import { simulationErrors } from './simulate/errors.js'
import { siteErrors } from './site/errors.js'

/** All families of error codes, in the order of the documentation. A test holds that none is missing. */
export const errorTables: readonly { readonly family: string; readonly where: string; readonly table: ErrorTable }[] = [
  { family: 'Input', where: 'dead letters, and faults in answers to `POST /events`', table: inputErrors },
  { family: 'Call outcomes', where: 'dead letters, and faults in answers to `POST /events`', table: callOutcomeErrors },
  { family: 'Address health', where: 'dead letters', table: addressHealthErrors },
  { family: 'Trust levels', where: 'dead letters', table: trustLevelErrors },
  {
    family: 'Messages of E2 terminations',
    where: 'dead letters, and faults in answers to `POST /events`',
    table: e2tMessageErrors,
  },
  { family: 'HTTP', where: 'answers, with their status', table: apiErrors },
  { family: 'E2 Manager', where: 'answers below `/v1`, as their numbers', table: e2Errors },
  { family: 'Settings', where: 'the start', table: settingsErrors },
  { family: 'Schema registry', where: 'the log, `/ops/health/ready`', table: registryErrors },
  { family: 'Engine', where: 'the log, `/ops/health/ready`, dead letters', table: engineErrors },
  { family: 'Log', where: 'the log, the start', table: logErrors },
  { family: 'Instances', where: 'the log', table: peerErrors },
  { family: 'Sites', where: 'the log, the start', table: siteErrors },
  { family: 'Stores', where: 'the log, the start', table: storeErrors },
  { family: 'Audit', where: 'the end of the audit commands', table: auditErrors },
  { family: 'Commands', where: 'the end of `sources`, `dead-letters` and `site`', table: operatorErrors },
  { family: 'Archive', where: 'the end of the audit commands', table: archiveErrors },
  { family: 'Reset', where: 'the end of `reset`', table: resetErrors },
  { family: 'Simulation', where: 'the end of `simulate`', table: simulationErrors },
]

/** All codes as text for a terminal. */
export function listErrors(): string {
  return errorTables
    .map(({ family, where, table }) => {
      const codes = Object.entries(table).map(([code, spec]) => `  ${code}${note(spec)}\n      ${spec.action}`)
      return `${family} (${where.replaceAll('`', '')})\n${codes.join('\n')}`
    })
    .join('\n\n')
}

/** All codes as Markdown. */
export function errorsTable(): string {
  return errorTables
    .map(({ family, where, table }) => {
      const rows = Object.entries(table).map(
        ([code, spec]) => `| \`${code}\` | ${note(spec).trim()} | ${spec.action.replaceAll('|', '\\|')} |`,
      )
      return [`**${family}**, seen in ${where}`, '', '| code | | what to do |', '| --- | --- | --- |', ...rows].join(
        '\n',
      )
    })
    .join('\n\n')
}

function note(spec: ErrorSpec): string {
  const notes = ['status' in spec ? String(spec.status) : '', spec.retryable === true ? 'retryable' : '']
  const text = notes.filter((part) => part !== '').join(', ')
  return text === '' ? '' : ` (${text})`
}
