import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { partitionOf } from '../../../topology/partitioner.js'
import { countNotices, expectLevels, reader, until } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'

const HANDLES = 30_000
const HEALTH_INTERVAL_MS = 1000
const HEALTH_DEADLINE_MS = 500

/** A plugin whose health is asked for over HTTP: up, then down; tells when it has said so. */
async function startPlugin() {
  let isDown = false
  let toldDownAt = 0
  const server = createServer((_request, response) => {
    response.writeHead(isDown ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status: isDown ? 'DOWN' : 'UP' }), () => {
      if (isDown && toldDownAt === 0) toldDownAt = performance.now()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    goDown: () => (isDown = true),
    toldDownAt: () => toldDownAt,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A plugin's health check fails: how long until all reads of its handles say NONE, and until all its notices are out. */
export async function pluginDown(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory, {
    dmiHealthIntervalMs: HEALTH_INTERVAL_MS,
    dmiHealthDeadlineMs: HEALTH_DEADLINE_MS,
  })
  const { application } = service
  const plugin = await startPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(HANDLES)
  await registerDevices(caller, plugin.address, ids)
  const noticesBefore = await countNotices(application, PARTITIONS)

  // All handles of a partition follow from its one row of the plugin.
  const ofPartition = new Map(ids.map((id) => [partitionOf(id, PARTITIONS), id]))
  const waiting = new Set(ofPartition.values())
  const read = reader(application)
  plugin.goDown()
  await until(async () => {
    // Read side by side, as different clients do: one after another, the time would be that of twelve reads.
    const looked = [...waiting].map(async (cmHandle) => {
      const answer = await read(cmHandle)
      if (answer.found && answer.handle.trustLevel === 'NONE') waiting.delete(cmHandle)
    })
    await Promise.all(looked)
    return waiting.size === 0
  })
  const readMs = performance.now() - plugin.toldDownAt()
  await until(async () => (await countNotices(application, PARTITIONS)) >= noticesBefore + HANDLES)
  const noticesMs = performance.now() - plugin.toldDownAt()

  await expectLevels(
    application,
    ids.map((cmHandle) => ({ cmHandle, trustLevel: 'NONE' })),
  )
  const notices = (await countNotices(application, PARTITIONS)) - noticesBefore
  if (notices !== HANDLES) throw new Error(`${notices} notices of ${HANDLES} handles`)
  caller.close()
  await plugin.close()
  await service.stop()
  return [
    { what: `plugin of ${HANDLES} handles fails its check: all read NONE`, value: readMs, unit: 'ms', atMost: 100 },
    { what: `their ${HANDLES} notices out, from the failed check`, value: noticesMs, unit: 'ms', atMost: 1000 },
  ]
}
