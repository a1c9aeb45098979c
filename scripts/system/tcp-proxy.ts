import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'

/**
 * pass: as if it were not there. refuse: connections there are reset, new ones too. stall: they are taken, and nothing moves
 * any more. slow: each piece comes `delayMs` later. throttle: each connection carries 100 kB/s at most, each way.
 */
export type Fault = 'pass' | 'refuse' | 'stall' | 'slow' | 'throttle'

const THROTTLE_BYTES_PER_MS = 100

export interface TcpProxy {
  readonly url: string
  readonly port: number
  /** Ports that it leads to in turn; may be told later. */
  targets: readonly number[]
  set(fault: Fault): void
}

/** A TCP proxy on loopback that does to connections what networks do. Ends with the test. */
export async function tcpProxy(t: Test, delayMs = 50): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let fault: Fault = 'pass'
  let connections = 0

  const add = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }
  const carry = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (fault === 'stall') return
      if (fault === 'slow') setTimeout(() => to.write(bytes), delayMs)
      else to.write(bytes)
      if (fault === 'throttle') {
        from.pause()
        setTimeout(() => from.resume(), bytes.length / THROTTLE_BYTES_PER_MS)
      }
    })
    from.once('close', () => to.destroy())
  }
  const server = createServer((socket) => {
    add(socket)
    if (fault === 'refuse') {
      socket.resetAndDestroy()
      return
    }
    if (fault === 'stall') return
    const onward = connect(proxy.targets[connections++ % proxy.targets.length] ?? 0, '127.0.0.1')
    add(onward)
    carry(socket, onward)
    carry(onward, socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const proxy: TcpProxy = {
    url: `http://127.0.0.1:${port}`,
    port,
    targets: [],
    set(next) {
      fault = next
      if (next === 'refuse') for (const socket of sockets) socket.resetAndDestroy()
    },
  }
  return proxy
}
