import type { HttpRequest } from './http-connection.js'
import type { HttpCaller } from './http-caller.js'

/** As the k6 tests of CPS-NCMP register. */
const BATCH = 2000

export function deviceIds(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `ch-${at + 1}`)
}

/** Registers devices of a plugin over HTTP, in batches, each with an alternate id and properties; answers how long it took, ms. */
export async function registerDevices(caller: HttpCaller, plugin: string, ids: readonly string[]): Promise<number> {
  const requests: HttpRequest[] = []
  for (let at = 0; at < ids.length; at += BATCH) {
    const createdCmHandles = ids.slice(at, at + BATCH).map((cmHandle) => ({
      cmHandle,
      alternateId: `Region=NorthAmerica,Segment=${cmHandle}`,
      moduleSetTag: 'tagA',
      dataProducerIdentifier: 'some-data-producer-id',
      cmHandleProperties: { neType: 'RadioNode' },
      publicCmHandleProperties: { Color: 'yellow', Size: 'small', Shape: 'cube' },
    }))
    const body = JSON.stringify({ dmiPlugin: plugin, createdCmHandles })
    requests.push({ method: 'POST', path: '/ncmpInventory/v1/ch', body })
  }
  const { durationsMs } = await caller.send(requests)
  return durationsMs.reduce((sum, ms) => sum + ms, 0)
}
