import type { Scenario } from './scenario.js'
import { SITE_KEY, SITE_REGISTER } from '../../processors/site/index.js'

/** A failover by request, one that is given up, and one that fails and is tried again by itself. */
export const siteRegisterScenario: Scenario = {
  domain: SITE_REGISTER,
  perform: ({ target }) => {
    throw new Error(`the register asks nothing of ${target}`)
  },
  async play({ driver, command, ingest }) {
    let epoch = 1
    let term = 1
    const request = async (target: string, oldAlive: boolean): Promise<void> => {
      await command(SITE_KEY, 'SwitchRequested', {
        target,
        kind: oldAlive ? 'manual' : 'automatic',
        oldAlive,
        windowMs: 60_000,
      })
      epoch++
      await driver.advance(500)
    }
    const move = async (
      name: string,
      said: { readonly error?: string; readonly report?: string } = {},
    ): Promise<void> => {
      await command(SITE_KEY, 'SwitchMoved', { epoch, term, move: name, error: '', report: '', ...said })
      await driver.advance(500)
    }
    await request('secondary', true)
    for (const name of ['loaded', 'fenced']) await move(name)
    await command(SITE_KEY, 'ConsumingBegun', { instance: 'http://a', epoch, step: 2 })
    await ingest(SITE_KEY, 'InstanceReported', { instance: 'http://b', consumes: false, troubles: 'größer 😀' })
    await move('caughtUp', { report: '{"eventsLoaded":7}' })
    await request('primary', true)
    await move('aborted')
    epoch++
    await driver.stop()
    await driver.start()
    term++
    await request('primary', false)
    await move('retried', { error: 'größer 😀' })
    for (const name of ['loaded', 'fenced', 'caughtUp', 'caughtUp']) await move(name)
  },
}
