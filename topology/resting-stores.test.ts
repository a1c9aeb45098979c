import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { memoryProvider } from '../state-stores/memory/provider.js'
import { RestingStores } from './resting-stores.js'

const DELAY_MS = 10_000

async function subject(found: readonly string[]) {
  const clock = manualClock()
  const removed: string[] = []
  const errors: Error[] = []
  let isPlaced = true
  let removal = (): Promise<void> => Promise.resolve()
  const stores = new RestingStores({
    ...{ stores: memoryProvider(), clock, cleanupDelayMs: DELAY_MS },
    disk: { names: () => Promise.resolve(found), remove: () => removal() },
    isOurs: (name) => name.startsWith('ours'),
    isPlaced: () => isPlaced,
    onRemoved: (name) => removed.push(name),
    onError: (error) => errors.push(error),
  })
  const stop = new AbortController()
  await stores.watch(stop.signal)
  return {
    ...{ clock, stores, removed, errors, stop },
    place: (is: boolean) => (isPlaced = is),
    removeBy: (remove: () => Promise<void>) => (removal = remove),
  }
}

t.test('what a former process left, and what is closed, is deleted after the delay; what is open is not', async (t) => {
  const { clock, stores, removed, stop } = await subject(['ours-0', 'ours-1', 'foreign'])
  t.same(stores.names, ['ours-0', 'ours-1'])
  const store = await stores.open('ours-1')
  t.same(stores.names, ['ours-0'])
  await clock.advance(DELAY_MS - 1)
  t.same(removed, [])
  await clock.advance(DELAY_MS)
  t.same(removed, ['ours-0'])
  await store.close()
  t.same(stores.names, ['ours-1'])
  await clock.advance(2 * DELAY_MS)
  t.same(removed, ['ours-0', 'ours-1'])
  t.same(stores.names, [])
  stop.abort()
})

t.test('nothing is deleted as long as the group does not say what is to be here', async (t) => {
  const { clock, removed, place, stop } = await subject(['ours-0'])
  place(false)
  await clock.advance(5 * DELAY_MS)
  place(true)
  await clock.advance(DELAY_MS / 2)
  t.same(removed, [], 'the delay begins anew')
  await clock.advance(DELAY_MS)
  t.same(removed, ['ours-0'])
  stop.abort()
})

t.test('a store that is being deleted is opened after that', async (t) => {
  const { clock, stores, removed, removeBy, stop } = await subject(['ours-0'])
  let done = (): void => undefined
  removeBy(() => new Promise<void>((resolve) => (done = resolve)))
  await clock.advance(DELAY_MS)
  let isOpen = false
  const opening = stores.open('ours-0').then((store) => ((isOpen = true), store))
  await clock.advance(1)
  t.notOk(isOpen)
  done()
  const store = await opening
  t.same(removed, ['ours-0'])
  await store.close()
  stop.abort()
})

t.test('what cannot be deleted is told, and tried again', async (t) => {
  const { clock, stores, removed, errors, removeBy, stop } = await subject(['ours-0'])
  removeBy(() => Promise.reject(new Error('busy')))
  await clock.advance(DELAY_MS)
  t.match(errors, [{ message: 'busy' }])
  t.same(stores.names, ['ours-0'])
  removeBy(() => Promise.resolve())
  await clock.advance(2 * DELAY_MS)
  t.same(removed, ['ours-0'])
  stop.abort()
})
