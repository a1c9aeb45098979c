import t from 'tap'
import { commandLine } from './command-line.js'
import { PLUGIN } from './fixtures.js'
import { TwoSites } from './two-sites.js'
import { until } from './until.js'

t.test('`pulsefold site` tells how two sites stand, moves the active role to its end, and drills', async (t) => {
  const sites = await TwoSites.start(t, { siteAutomaticSwitch: false })
  await sites.site('primary').register(PLUGIN, ['dev-1'])
  await sites.untilMirrored()
  const site = (act: string, at: 'primary' | 'secondary', ...more: string[]): Promise<string> =>
    sites.site(at).ready.then((url) => commandLine('site', act, '--url', url, ...more))

  t.match(
    await site('status', 'secondary'),
    /^0 this site +secondary\nactive +primary\nphase +STEADY, epoch 1, manual\n/,
  )
  t.match(await site('drill', 'secondary'), /^0 the loaded state is that of the active site\n\d+ events in /)
  t.match(await site('drill', 'primary'), /^70 .*this site is active: ask the other one/s)
  t.match(await site('abort', 'primary'), /^70 .*there is no switch under way/s)

  const told = await site('failover', 'primary', '--actor', 'ann', '--reason', 'to see')
  t.match(told, /^0 failovering\n/)
  t.match(told, /\nactive +secondary\nphase +STEADY, epoch 2, manual, since /)
  t.match(told, /\nlast switch +traffic after \d+ ms, steady after \d+ ms, \d+ events loaded, loss window 0 ms\n/)
  t.match(await sites.status('secondary'), { active: 'secondary', phase: 'STEADY' }, 'it has waited for the end')
  t.match(await site('failover', 'secondary'), /^0 failovered\n$/)
  await until('the primary has heard', async () => (await sites.status('primary')).phase === 'STEADY')

  sites.ways.secondary.set('stall')
  const following = site('failback', 'primary')
  await until('it has begun', async () => (await sites.status('primary')).phase === 'PRELOAD')
  t.match(await site('failback', 'primary', '--no-wait'), /^0 failbacking\n$/)
  t.match(await site('failover', 'primary'), /^70 .*a failback is in phase PRELOAD/s)
  t.match(await site('abort', 'primary'), /^0 aborted\n$/)
  const [code] = await following
  t.equal(code, '1', 'what was given up has not come about')
})
