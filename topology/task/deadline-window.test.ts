import fc from 'fast-check'
import t from 'tap'
import { compareText } from '../../state-stores/overlay.js'
import { DeadlineWindow } from './deadline-window.js'
import { deadlineKey } from './table-runtime.js'

/** A store of deadlines beside the window, told in pages of two as of the call; `meanwhile` happens between them. */
function subject() {
  const stored = new Set<string>()
  const window = new DeadlineWindow()
  const change = (key: string, isArmed: boolean): void => {
    if (isArmed) stored.add(key)
    else stored.delete(key)
    if (isArmed) window.armed(key)
    else window.disarmed(key)
  }
  const sorted = (): string[] => [...stored].sort(compareText)
  async function extend(meanwhile: () => void = () => undefined): Promise<void> {
    await window.extend(async function* (after) {
      const keys = sorted().filter((key) => after === undefined || compareText(key, after) > 0)
      for (let at = 0; at < keys.length; at += 2) {
        yield keys.slice(at, at + 2).map((key) => [key] as const)
        if (at === 0) meanwhile()
        await Promise.resolve()
      }
    })
  }
  /** What the window holds is all that there is in front of its end. */
  const isTrue = (): boolean => {
    const known = new Set(window.keys)
    const endsAt = window.endsAt
    return (
      window.keys.every((key) => stored.has(key)) &&
      sorted().every((key) => known.has(key) || Number.parseInt(key.slice(0, 14), 16) >= endsAt) &&
      window.keys.join() === [...window.keys].sort(compareText).join()
    )
  }
  return { window, stored, change, extend, isTrue }
}

t.test('nothing is known before it is read', async (t) => {
  const { window, change, extend } = subject()
  change(deadlineKey(5, 'a'), true)
  t.same(window.keys, [])
  t.equal(window.endsAt, -Infinity)
  await extend()
  t.same(window.keys, [deadlineKey(5, 'a')])
  t.equal(window.endsAt, Infinity)
})

t.test('more than a page is read in parts, and where the window ends is told', async (t) => {
  const { window, change, extend, isTrue } = subject()
  for (let due = 0; due < 2500; due++) change(deadlineKey(due, 'x'), true)
  await extend()
  t.equal(window.keys.length, 1000)
  t.equal(window.endsAt, 1000)
  await extend()
  await extend()
  t.equal(window.keys.length, 2500)
  t.equal(window.endsAt, Infinity)
  t.ok(isTrue())
})

t.test('a window that grows beyond bounds forgets its later half', async (t) => {
  const { window, change, extend, isTrue } = subject()
  await extend()
  for (let due = 0; due < 10_000; due++) change(deadlineKey(due, 'x'), true)
  t.ok(window.keys.length <= 2000, `${window.keys.length} keys`)
  t.ok(isTrue())
})

t.test('whatever comes and goes, also while the store is read, the window holds the earliest', async () => {
  const key = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom('a', '\ud83d', '\ue000', 'b'))
  const change = fc.record({ key, isArmed: fc.boolean() })
  const step = fc.oneof(change, fc.record({ meanwhile: fc.array(change, { maxLength: 5 }) }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const s = subject()
      const apply = ({ key: [due, id], isArmed }: { key: [number, string]; isArmed: boolean }): void =>
        s.change(deadlineKey(due, id), isArmed)
      for (const each of steps) {
        if ('meanwhile' in each) await s.extend(() => each.meanwhile.forEach(apply))
        else apply(each)
        if (!s.isTrue()) return false
      }
      return true
    }),
    { numRuns: 500 },
  )
})
