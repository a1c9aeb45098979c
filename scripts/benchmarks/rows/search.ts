import { trustLevelQueries } from '../../../processors/trust-level/index.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { DOMAIN } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import type { HttpRequest } from '../http-connection.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'

const HANDLES = 50_000
const ID_SEARCHES = 25
const OBJECT_SEARCHES = 5
const PAIRS = 25

const condition = { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel: 'COMPLETE' }] }
const idSearch: HttpRequest = {
  method: 'POST',
  path: '/ncmp/v1/ch/id-searches',
  body: JSON.stringify({ cmHandleQueryParameters: [condition] }),
}
const objectSearch: HttpRequest = {
  method: 'POST',
  path: '/ncmp/v1/ch/searches',
  body: JSON.stringify({ cmHandleQueryParameters: [condition] }),
}

/** Searches that find all handles, over HTTP; and what the trust levels cost in a search of objects. */
export async function search(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  await registerDevices(caller, plugin.address, deviceIds(HANDLES))

  async function medianOverHttp(request: HttpRequest, times: number): Promise<number> {
    await caller.send([request, request])
    return percentile((await caller.send(Array.from({ length: times }, () => request))).durationsMs, 0.5)
  }
  const idsMs = await medianOverHttp(idSearch, ID_SEARCHES)
  const objectsMs = await medianOverHttp(objectSearch, OBJECT_SEARCHES)

  const { search: query } = trustLevelQueries(application.journal(DOMAIN).topic)
  async function objects(trustLevels: boolean): Promise<number> {
    const started = performance.now()
    const pages = await application.queryAll(DOMAIN, query, { conditions: [], fields: 'view', trustLevels })
    const ms = performance.now() - started
    const found = pages.reduce((sum, page) => sum + (page.ok ? page.result.views.length : 0), 0)
    if (found !== HANDLES) throw new Error(`${found} of ${HANDLES} handles found`)
    return ms
  }
  const withMs: number[] = []
  const withoutMs: number[] = []
  for (let pair = 0; pair <= PAIRS; pair++) {
    const isFirst = hasEvenOnes(pair)
    const [a, b] = [await objects(isFirst), await objects(!isFirst)]
    // The first pair warms up.
    if (pair === 0) continue
    withMs.push(isFirst ? a : b)
    withoutMs.push(isFirst ? b : a)
  }
  caller.close()
  await plugin.close()
  await service.stop()
  const ratio = percentile(withMs, 0.5) / percentile(withoutMs, 0.5)
  const expected = 'median; upstream expects 1,400 ms'
  return [
    { what: `all ${HANDLES} ids by trust level, over HTTP`, value: idsMs, unit: 'ms', atMost: 50, compared: expected },
    {
      what: `all ${HANDLES} objects by trust level, over HTTP`,
      value: objectsMs,
      unit: 'ms',
      atMost: 2000,
      compared: 'median; upstream expects 15,000 ms',
    },
    {
      what: `query of ${HANDLES} objects, with trust levels`,
      value: ratio,
      unit: 'times',
      atMost: 1.1,
      compared: `without them: ${percentile(withoutMs, 0.5).toFixed(0)} ms; medians of ${PAIRS} pairs`,
    },
  ]
}

/** An order without a period: in one with a period the same of two could always meet the garbage collector. */
function hasEvenOnes(number: number): boolean {
  return number.toString(2).replaceAll('0', '').length % 2 === 0
}
