import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OutageKind } from './plan.js'

/** A DMI plugin as Pulsefold sees it: a health endpoint on loopback. */
export interface DmiPlugin {
  readonly address: string
  /** null ends the outage. */
  setOutage(kind: OutageKind | null): void
  close(): Promise<void>
}

const HEALTH_PATH = '/manage/health/readiness'

export async function startDmiPlugin(): Promise<DmiPlugin> {
  let outage: OutageKind | null = null
  const server = createServer((request, response) => {
    request.resume()
    if (outage === 'never answers') return
    if (outage === 'resets connections') return void request.socket.resetAndDestroy()
    const isUp = outage === null
    const statusCode = request.url !== HEALTH_PATH ? 404 : outage === 'answers 503' ? 503 : 200
    response.writeHead(statusCode, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status: isUp ? 'UP' : 'DOWN' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setOutage(kind) {
      outage = kind
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
