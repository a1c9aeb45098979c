import { Writable } from 'node:stream'
import { pino } from 'pino'
import { systemClock } from '../common/clock.js'
import { memoryProvider } from '../state-stores/memory/provider.js'
import { pluginAddressPolicy } from '../common/plugin-address.js'
import type { Processor } from '../topology/processor.js'
import { createServer } from './server.js'
import type { ApiServer, ServerOptions } from './server.js'
import { testStreams } from './test-streams.js'
import type { TestStreams } from './test-streams.js'

export interface TestApi {
  readonly server: ApiServer
  readonly streams: TestStreams
  /** What was logged, as written. */
  readonly logLines: string[]
}

/** A server over the stand-in, not listening; closed when the test ends. */
export async function testApi(
  t: { teardown(close: () => Promise<void>): void },
  options: Partial<ServerOptions> & { readonly processors?: readonly Processor[]; readonly partitions?: number } = {},
): Promise<TestApi> {
  const { processors, partitions, ...rest } = options
  const streams = await testStreams(processors, partitions)
  const logLines: string[] = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logLines.push(chunk.toString('utf8'))
      done()
    },
  })
  let ids = 0
  const server = await createServer({
    streams,
    applicationId: 'test',
    auditToken: '',
    auditSource: () => Promise.resolve({ reader: streams.log }),
    openAuditStore: () => memoryProvider().open('audit'),
    auditCopies: () => Promise.resolve({ others: [], copies: [], unread: [] }),
    clock: systemClock,
    host: '127.0.0.1',
    port: 0,
    newId: () => `id-${++ids}`,
    logger: pino({ level: 'debug' }, destination),
    pluginAddressPolicy: pluginAddressPolicy(
      { httpHost: '127.0.0.1', httpPort: 8080, advertisedUrl: '', allowedUrlPattern: '' },
      [],
    ),
    ricId: 'AACCE',
    ncmpBasePath: '/ncmp',
    ncmpInventoryBasePath: '/ncmpInventory',
    decodeRecord: () => undefined,
    metrics: { contentType: 'text/plain; version=0.0.4', metrics: () => Promise.resolve('up 1\n') },
    ...rest,
  })
  t.teardown(async () => {
    await server.stop()
    await streams.log.close()
  })
  return { server, streams, logLines }
}
