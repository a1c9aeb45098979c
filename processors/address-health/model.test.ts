import fc from 'fast-check'
import t from 'tap'
import { CALL_RESULTS } from '../../schemas/address-health/journal-events.js'
import type { RetryAnswer } from '../../schemas/address-health/journal-events.js'
import { AddressModel } from './model.js'
import { platforms } from './tables.js'
import { AddressHealthKit, defaults, PLATFORM } from './test-kit.js'

const ADDRESSES = ['a1', 'a2']

type Step =
  | {
      readonly kind: 'outcome'
      readonly at: number
      readonly result: number
      readonly id: number
      readonly event: number
      readonly attempt: number
    }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'retry' | 'activate' | 'deactivate' | 'repair'; readonly at: number }
  | { readonly kind: 'restart' }

const at = fc.nat(ADDRESSES.length - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('outcome' as const),
      at,
      result: fc.nat(2),
      // Few, so that many are repeats.
      id: fc.nat(30),
      event: fc.nat(30),
      attempt: fc.nat(3),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(4000) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('retry' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('activate', 'deactivate', 'repair'), at }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
)

const parameters = fc.record({
  detectInterval: fc.constantFrom(0, 1000, 2500, 5000),
  detectThreshold: fc.constantFrom(0, 0.25, 0.5, 1),
  retryInterval: fc.constantFrom(0, 1500, 6000),
  retryAttempts: fc.integer({ min: 1, max: 3 }),
  minCalls: fc.integer({ min: 1, max: 3 }),
})

t.test('whatever happens, addresses are where a plain account of all that happened has them', async (t) => {
  await fc.assert(
    fc.asyncProperty(parameters, fc.array(step, { minLength: 30, maxLength: 150 }), async (chosen, steps) => {
      const kit = new AddressHealthKit()
      kit.create(ADDRESSES, chosen)
      const models = ADDRESSES.map(() => new AddressModel({ ...defaults, ...chosen }, kit.time))
      const attempts = ['']
      for (const next of steps) {
        await play(next, kit, models, attempts)
        if (next.kind === 'restart') t.equal(kit.replayed().digest(), kit.digest())
        const addresses = kit.row(platforms, PLATFORM, PLATFORM)?.addresses ?? []
        t.strictSame(
          addresses.map(({ state, successes }) => ({ state, successes })),
          models.map(({ state, successes }) => ({ state, successes })),
        )
        const view = await kit.platform()
        t.strictSame(
          view.addresses.map(({ window }) => window),
          models.map((model) => model.counts(kit.time)),
        )
      }
      t.strictSame(
        alarmsOf(kit),
        models.map(({ alarms }) => alarms),
      )
      const armed = new Set(kit.deadlines(PLATFORM).map(({ id }) => id))
      t.equal(armed.size, kit.deadlines(PLATFORM).length, 'one deadline of a kind for each address')
    }),
    { numRuns: 200 },
  )
})

async function play(
  next: Step,
  kit: AddressHealthKit,
  models: readonly AddressModel[],
  attempts: string[],
): Promise<void> {
  if (next.kind === 'restart') return
  if (next.kind === 'advance') {
    kit.advance(next.ms)
    for (const model of models) model.pass(kit.time)
    return
  }
  const model = models[next.at]!
  const address = ADDRESSES[next.at]!
  const { time } = kit
  switch (next.kind) {
    case 'outcome': {
      const result = CALL_RESULTS[next.result]!
      const attemptId = attempts[attempts.length - 1 - next.attempt] ?? ''
      const ids = { callId: `c${next.id}`, eventId: `e${next.event}` }
      kit.outcome(address, result, { ...ids, attemptId })
      model.outcome(time, result, ids.callId, ids.eventId, attemptId)
      return
    }
    case 'retry': {
      const data = { platform: PLATFORM, addressId: next.at + 1, callId: 'c' }
      const answer = kit.when(PLATFORM, { type: 'RetryRequested', data }) as RetryAnswer
      const id = answer.granted ? answer.attemptId : ''
      if (model.retry(time, id) !== answer.granted)
        throw new Error(`the retry was ${answer.granted ? '' : 'not '}granted`)
      if (answer.granted) attempts.push(id)
      return
    }
    case 'activate':
      model.activate(time, 'ACTIVATED')
      break
    case 'repair':
      model.activate(time, 'MANUAL_REPAIR')
      break
    case 'deactivate':
      model.deactivate(time)
  }
  kit.operate(next.kind, next.at)
}

/** Alarms of each address, as the model words them. */
function alarmsOf(kit: AddressHealthKit): string[][] {
  const all = kit.alarms()
  return ADDRESSES.map((_, index) =>
    all
      .filter((alarm) => alarm.split(' ')[1] === `${PLATFORM}/${index + 1}`)
      .map((alarm) => {
        const [state, , reason, counts] = alarm.split(' ')
        return state === 'raised' ? `raised ${counts}` : `cleared ${reason}`
      }),
  )
}
