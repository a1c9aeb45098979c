import { cut } from '../../common/errors.js'
import { isJsonObject } from '../json.js'
import { NODE_TYPES } from './journal-events.js'
import type { E2SetupRequested, RanFunction } from './journal-events.js'
import { isName, refusal } from './refusal.js'
import type { Refusal } from './refusal.js'

/** What an E2 setup request says, from its JSON; the RAN's name may stand in `meid` alone. (keep-alive, section 9) */
export function setupOf(body: unknown, meid: string): Omit<E2SetupRequested, 'ric'> | Refusal {
  if (!isJsonObject(body)) return refusal('NOT_AN_OBJECT', 'the data is not a JSON object', 'data')
  const ranName = body['ranName'] ?? meid
  if (ranName === '') return refusal('MISSING_RAN_NAME', 'neither ranName nor meid names the RAN', 'data.ranName')
  if (typeof ranName !== 'string' || !isName(ranName)) {
    return refusal('INVALID_RAN_NAME', `ranName is ${cut(ranName)}`, 'data.ranName')
  }
  if (meid !== '' && meid !== ranName) {
    return refusal('CONFLICTING_RAN_NAMES', `ranName is ${cut(ranName)}, meid ${cut(meid)}`, 'data.ranName')
  }
  const address = body['e2tAddress']
  if (typeof address !== 'string' || !isName(address)) {
    return refusal('INVALID_E2T_ADDRESS', `e2tAddress is ${cut(address)}`, 'data.e2tAddress')
  }
  const globalNbId = body['globalNbId']
  const { plmnId, nbId } = isJsonObject(globalNbId) ? globalNbId : {}
  if (typeof plmnId !== 'string' || typeof nbId !== 'string' || plmnId === '' || nbId === '') {
    return refusal('INVALID_SETUP', 'globalNbId lacks plmnId or nbId', 'data.globalNbId')
  }
  const nodeType = NODE_TYPES.find((known) => known === body['nodeType'])
  if (nodeType === undefined) {
    const message = `nodeType is ${cut(body['nodeType'])}, not one of ${NODE_TYPES.join(', ')}`
    return refusal('INVALID_SETUP', message, 'data.nodeType')
  }
  const ranFunctions = ranFunctionsOf(body['ranFunctions'] ?? [])
  if (ranFunctions === undefined) {
    return refusal('INVALID_SETUP', 'ranFunctions is no list of functions with whole numbers', 'data.ranFunctions')
  }
  const transactionId = textIn(body['transactionId']) ?? ''
  return { address, ranName, plmnId, nbId, nodeType, ranFunctions, transactionId }
}

function ranFunctionsOf(list: unknown): readonly RanFunction[] | undefined {
  if (!Array.isArray(list)) return undefined
  const functions: RanFunction[] = []
  for (const item of list as readonly unknown[]) {
    if (!isJsonObject(item)) return undefined
    const { ranFunctionId = 0, ranFunctionRevision = 0 } = item
    if (!Number.isSafeInteger(ranFunctionId) || !Number.isSafeInteger(ranFunctionRevision)) return undefined
    functions.push({
      ranFunctionId: ranFunctionId as number,
      ranFunctionRevision: ranFunctionRevision as number,
      ranFunctionDefinition: textIn(item['ranFunctionDefinition']) ?? '',
      ranFunctionOid: textIn(item['ranFunctionOid']) ?? '',
    })
  }
  return functions
}

/** Numbers as their text: clients write transaction ids as either. */
function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}
