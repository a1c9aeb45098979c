import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How a double behaves: as it should, answering 500, not at all, or closed to new connections. */
export type DoubleMode = 'well' | 'failing' | 'hanging'

export interface HttpDouble {
  readonly port: number
  /** How many requests have come, in whatever mode. */
  readonly requests: number
  mode: DoubleMode
  close(): void
}

export interface DoubleRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/** A server on loopback that answers JSON, and can be told to fail. */
export async function httpDouble(
  port: number,
  answer: (request: DoubleRequest) => { readonly status: number; readonly body?: unknown },
): Promise<HttpDouble> {
  const double = { port, requests: 0, mode: 'well' as DoubleMode, close: (): void => undefined }
  const server = createServer((incoming, outgoing) => {
    double.requests++
    void textOf(incoming).then((text) => {
      if (double.mode === 'hanging') return
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', body: parsed(text) }
      const { status, body } = double.mode === 'failing' ? { status: 500, body: {} } : answer(request)
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  double.port = (server.address() as AddressInfo).port
  double.close = () => {
    server.closeAllConnections()
    server.close()
  }
  return double
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of incoming.setEncoding('utf8')) text += String(part)
  return text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
