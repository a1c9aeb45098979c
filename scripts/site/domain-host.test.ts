import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import type { Application } from '../../topology/application.js'
import type { Streams } from '../../topology/streams.js'
import { DomainHost } from './domain-host.js'

/** A host whose applications say what befalls them, and whose ingests end when they are told to. */
function host() {
  const clock = manualClock()
  const said: string[] = []
  const ends: ((thrown?: Error) => void)[] = []
  const ingest = () => {
    said.push('ingest')
    const taken = new Promise<void>((resolve, reject) =>
      ends.push((thrown) => {
        if (thrown === undefined) resolve()
        else reject(thrown)
      }),
    )
    return taken.then(() => said.push('taken')).then(() => [])
  }
  const stop = (): Promise<void> => {
    said.push('stop')
    for (const end of ends) end(new Error('the application stops'))
    return Promise.resolve()
  }
  const domains = new DomainHost(
    () => ({
      application: { stop } as unknown as Application,
      streams: { ingest } as unknown as Streams,
      start: () => Promise.resolve(),
    }),
    clock,
  )
  return { clock, said, ends, domains }
}

t.test('what is being taken in when a site gives way is taken whole before its domains stop', async (t) => {
  const { clock, said, ends, domains } = host()
  await domains.start()
  const taking = domains.ingest('counting', [])
  const stopping = domains.stop()
  await clock.advance(1000)
  t.same(said, ['ingest'])
  t.ok(!domains.isRunning && !domains.isStopped, 'nobody is told yet that it has stopped')
  ends[0]?.()
  await taking
  await stopping
  t.same(said, ['ingest', 'taken', 'stop'])
  t.ok(domains.isStopped)
})

t.test(
  'it is waited for while the log may take it, two seconds at most; it is refused before the site has stopped',
  async (t) => {
    const { clock, said, domains } = host()
    await domains.start()
    const taking = domains.ingest('counting', [])
    taking.catch(() => said.push('refused'))
    const stopping = domains.stop().then(() => said.push('stopped'))
    await clock.advance(1900)
    t.same(said, ['ingest'])
    await clock.advance(200)
    await stopping
    t.same(said, ['ingest', 'stop', 'refused', 'stopped'])
  },
)
