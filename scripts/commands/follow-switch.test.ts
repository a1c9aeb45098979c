import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { followSwitch } from './follow-switch.js'
import type { SiteAnswer } from './site.js'

const steady: SiteAnswer = {
  site: 'primary',
  active: 'primary',
  epoch: 1,
  phase: 'STEADY',
  kind: 'manual',
  since: null,
  base: 'none',
  loadedTo: null,
  events: 0,
  eventsPerSecond: 0,
  etaMs: null,
  mirrorLagMs: 0,
  peer: { url: 'http://other', healthy: false },
}
const loading = { ...steady, epoch: 2, target: 'secondary', phase: 'PRELOAD' }

/** Follows epoch 2 over these answers, the last one again and again; errors are rejected with. */
function follow(answers: readonly (SiteAnswer | Error)[]) {
  const clock = manualClock()
  const shown: (string | number)[] = []
  let asked = 0
  const followed = followSwitch(
    {
      clock,
      progress: { update: (done) => shown.push(done), step: (text) => shown.push(text), stop: () => shown.push('end') },
      ask() {
        const answer = answers[Math.min(asked++, answers.length - 1)]
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer!)
      },
    },
    2,
  )
  const state = { isDone: false }
  followed.finally(() => (state.isDone = true)).catch(() => undefined)
  return { clock, shown, state, followed }
}

t.test('a switch is followed to its own end, with how far it is', async (t) => {
  const { clock, shown, state, followed } = follow([
    steady,
    loading,
    { ...loading, events: 300, eventsPerSecond: 100, etaMs: 1000, error: 'history is down' },
    { ...loading, phase: 'SWITCH', active: 'secondary' },
    { ...steady, epoch: 2, active: 'secondary' },
  ])
  while (!state.isDone) await clock.advance(100)
  t.match(await followed, { epoch: 2, phase: 'STEADY', active: 'secondary' })
  t.same(shown, [
    'the primary site has not heard of it yet',
    'PRELOAD',
    99 * 0.75,
    'PRELOAD, 100 events/s, 1 s left (history is down)',
    99,
    'SWITCH',
    'end',
  ])
})

t.test('one that has failed, or was given up, has ended, too', async (t) => {
  for (const end of [
    { ...loading, phase: 'FAILED' },
    { ...steady, epoch: 3 },
  ]) {
    const { clock, state, followed } = follow([loading, end])
    while (!state.isDone) await clock.advance(100)
    t.same(await followed, end)
  }
})

t.test('a site that does not answer for a while is asked again, for a minute', async (t) => {
  const away = new Error('no answer')
  const back = follow([loading, away, away, { ...steady, epoch: 2, active: 'secondary' }])
  while (!back.state.isDone) await back.clock.advance(100)
  t.match(await back.followed, { active: 'secondary' })
  t.ok(back.shown.includes('no answer'))

  const gone = follow([loading, away])
  await gone.clock.advance(59_000)
  t.notOk(gone.state.isDone)
  await gone.clock.advance(2000)
  await t.rejects(gone.followed, away)
})
