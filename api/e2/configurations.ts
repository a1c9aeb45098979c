import { isJsonObject } from '../../schemas/json.js'
import { isFirstWord } from './enumerations.js'
import { E2Error } from './errors.js'
import { listIn } from './json.js'

type Members = Readonly<Record<string, unknown>>

/** What an eNB must say of itself and of its cells. Errors: E2_VALIDATION, E2_CORRUPTED_JSON. */
export function checkEnb(enb: Members): void {
  const cells = listIn(enb, 'servedCells')
  demand(isSet(enb, 'enbType') && cells.length > 0)
  for (const cell of cells) {
    demand(isSet(cell, 'cellId') && isSet(cell, 'eutraMode') && isSet(cell, 'tac'))
    demand(isFilledList(cell['broadcastPlmns']) && isDuplex(cell['choiceEutraMode']))
  }
}

/** What a gNB's served cells must say. Errors: E2_VALIDATION, E2_CORRUPTED_JSON. */
export function checkCells(cells: readonly Members[]): void {
  demand(cells.length > 0)
  for (const cell of cells) {
    const information = cell['servedNrCellInformation']
    demand(isJsonObject(information))
    const served = information as Members
    demand(isSet(served, 'cellId') && isSet(served, 'nrMode') && isSet(served, 'nrPci'))
    demand(isDuplex(served['choiceNrMode']) && isFilledList(served['servedPlmns']))
    for (const neighbour of listIn(cell, 'nrNeighbourInfos')) {
      demand(isSet(neighbour, 'nrCgi') && isSet(neighbour, 'nrMode') && isSet(neighbour, 'nrPci'))
      demand(isDuplex(neighbour['choiceNrMode']))
    }
  }
}

function demand(isRight: boolean): void {
  if (!isRight) throw new E2Error('E2_VALIDATION')
}

/** A text or a number, and not its zero value. */
function isSet(members: Members, name: string): boolean {
  const value = members[name]
  return typeof value === 'string'
    ? value !== '' && !isFirstWord(name, value)
    : typeof value === 'number' && value !== 0
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

function isDuplex(value: unknown): boolean {
  return isJsonObject(value) && (isJsonObject(value['fdd']) || isJsonObject(value['tdd']))
}
