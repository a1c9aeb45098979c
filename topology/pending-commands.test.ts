import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { pendingCommands } from './pending-commands.js'

const answer = (commandId: string, value = 1): { commandId: string; answer: unknown; offset: number } => ({
  commandId,
  answer: value,
  offset: 5,
})

t.test('every caller of a command gets its answer', async (t) => {
  const commands = pendingCommands(manualClock())
  const waiting = [commands.wait('a', 'task', 1000), commands.wait('a', 'task', 1000), commands.wait('b', 'task', 1000)]
  commands.answered(answer('a'))
  commands.answered(answer('b', 2))
  t.match(await Promise.all(waiting), [{ answer: 1, offset: 5 }, { answer: 1 }, { answer: 2 }])
})

t.test('no answer in time: the outcome is open; a later answer finds nobody', async (t) => {
  const clock = manualClock()
  const commands = pendingCommands(clock)
  const short = commands.wait('a', 'task', 1000)
  const long = commands.wait('a', 'task', 2000)
  await clock.advance(1000)
  t.equal(await short, 'late')
  commands.answered(answer('a'))
  t.match(await long, { answer: 1 })
  t.doesNotThrow(() => commands.answered(answer('a')))
})

t.test('an answer that nobody waits for is nothing', async (t) => {
  const commands = pendingCommands(manualClock())
  commands.answered(answer('a'))
  const waiting = commands.wait('a', 'task', 1000)
  commands.answered(answer('a', 2))
  t.match(await waiting, { answer: 2 })
})

t.test('stop ends all waiting, unanswered', async (t) => {
  const commands = pendingCommands(manualClock())
  const waiting = [commands.wait('a', 'task', 1000), commands.wait('b', 'task', 1000)]
  commands.stop()
  t.same(await Promise.all(waiting), ['late', 'late'])
})

t.test('commands of a task that was taken away are ended, others wait on', async (t) => {
  const commands = pendingCommands(manualClock())
  const moved = [commands.wait('a', 'task/1', 1000), commands.wait('b', 'task/1', 1000)]
  const other = commands.wait('b', 'task/2', 1000)
  commands.moved('task/1')
  commands.answered(answer('b'))
  t.same(await Promise.all(moved), ['moved', 'moved'])
  t.match(await other, { answer: 1 })
})
