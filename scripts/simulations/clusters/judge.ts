import assert from 'node:assert/strict'
import type { InputsTakenIn } from '../../../topology/processor.js'
import { partitionOf } from '../../../topology/partitioner.js'
import { checkRun, JOURNAL } from '../../../topology/system/counting-run.js'
import type { CountingModel, TakenEvent } from '../../../topology/system/counting-model.js'
import { TestCluster } from '../../../topology/system/test-cluster.js'
import type { Asked, Commanded, Posted } from './clients.js'
import type { ClusterRun } from './cluster-run.js'
import { INPUT } from './inputs.js'
import type { Incarnation, InputRecord } from './inputs.js'
import { PARTITIONS } from './story.js'

/** The slowest of the clocks that instances measure staleness with. */
const SLOWEST_RATE = 0.8

/** Holds all that is left of a run, and all answers that were given, to a plain fold of the journals. Throws where they differ. */
export async function judge(run: ClusterRun): Promise<void> {
  const { cluster, clients, inputs } = run
  const answers = new Map(clients.commanded.flatMap(({ id, result }) => (result.ok ? [[id, result.answer]] : [])))
  const models = await checkRun({ driver: cluster, answers })
  const stamps = await journalStamps(cluster)
  for (const asked of clients.asked) checkAnswer(asked, models, stamps)
  checkOwnersGoForward(clients.asked)
  for (const commanded of clients.commanded) checkCommand(commanded, clients.commanded, models)
  for (const posted of clients.posted) checkPosted(posted, models)
  for (const incarnation of inputs.incarnations) checkTakenOnce(incarnation, incarnation === inputs.current, models)
  checkIntake(inputs.incarnations, models)
  for (const [partition, model] of models.entries()) checkSends(partition, models, model)
  await checkStandbys(run)
  await checkChangelogs(run)
}

/** When each record of each journal partition was appended. */
async function journalStamps(cluster: TestCluster): Promise<readonly (readonly number[])[]> {
  const records = await cluster.read(JOURNAL)
  return Array.from({ length: PARTITIONS }, (_, of) =>
    records.filter(({ partition }) => partition === of).map(({ timestamp }) => timestamp),
  )
}

/** A count is one that its key had at the answer's position or after it, and is as fresh as it says and as was demanded. */
function checkAnswer(asked: Asked, models: readonly CountingModel[], stamps: readonly (readonly number[])[]): void {
  const { result, key, partition, demand, begunMs, journalEnd } = asked
  if (!result.ok) return
  const what = `answer ${JSON.stringify(asked)}`
  const { offset } = result.position
  const history = models[partition]?.history.get(key) ?? []
  const before = history.filter(([at]) => at <= offset).at(-1)?.[1] ?? 0
  const after = history.filter(([at]) => at > offset && at < journalEnd).map(([, counted]) => counted)
  assert.ok([before, ...after].includes(result.result), `${what}: the count was ${[before, ...after].join()}`)
  const { minPositions = [], maxStalenessMs = Infinity, role } = demand
  for (const minimum of minPositions) assert.ok(offset >= minimum.offset, `${what}: it stands before what was demanded`)
  assert.ok(Math.floor(result.stalenessMs) <= maxStalenessMs, `${what}: it is staler than was demanded`)
  if (role === 'active') assert.equal(result.role, 'active', what)
  const knownMs = begunMs - result.stalenessMs / SLOWEST_RATE
  const missing = (stamps[partition] ?? []).findIndex((stamp, at) => at > offset && stamp < Math.floor(knownMs))
  assert.equal(missing, -1, `${what}: offset ${missing} was there before it says that it held all`)
}

/** Once an owner has answered from a position, no answer of an owner asked later stands before it. */
function checkOwnersGoForward(asked: readonly Asked[]): void {
  const active = asked.filter(({ result }) => result.ok && result.role === 'active')
  for (const later of active) {
    for (const earlier of active) {
      if (earlier.partition !== later.partition || earlier.ended >= later.begun) continue
      const went = offsetOf(later) >= offsetOf(earlier)
      assert.ok(went, `an owner went back: ${JSON.stringify(earlier)}, then ${JSON.stringify(later)}`)
    }
  }
}

const offsetOf = ({ result }: Asked): number => (result.ok ? result.position.offset : -1)

/** An answer is what the command's fold said, where it stands; what was refused unheard is in no journal. */
function checkCommand({ id, result }: Commanded, all: readonly Commanded[], models: readonly CountingModel[]): void {
  const folded = models.map(({ answered }) => answered.get(id)).find((candidate) => candidate !== undefined)
  const what = `command ${id} ${JSON.stringify(result)}`
  if (result.ok) {
    assert.deepEqual(result.answer, folded?.answer, what)
    assert.equal(result.position.offset >= (folded?.offset ?? Infinity), true, what)
  } else if (
    all.filter((other) => other.id === id).every((other) => !other.result.ok && other.result.reason === 'unavailable')
  ) {
    assert.equal(folded, undefined, `${what}: it was refused unheard`)
  }
}

/** An event that was acknowledged stands at what was said or before it, once; another one may stand somewhere, or not. */
function checkPosted({ mode, key, position }: Posted, models: readonly CountingModel[]): void {
  const found = models.flatMap(({ taken }, partition) =>
    taken.filter((event) => event.mode === mode).map((event) => ({ partition, ...event })),
  )
  const what = `event ${mode} of ${key}, acknowledged ${JSON.stringify(position)}`
  assert.ok(found.length <= 1, `${what}: it was taken ${found.length} times`)
  if (position === undefined) return
  // After a lost answer it was appended again, and the repeat dropped.
  const isThere = found.some(({ partition, offset }) => partition === position.partition && offset <= position.offset)
  assert.ok(isThere, `${what}: it stands at ${JSON.stringify(found)}`)
}

/** Every record of an input was taken once and in order; of a topic that was deleted, in each journal those up to some record. */
function checkTakenOnce({ id, partitions }: Incarnation, isWhole: boolean, models: readonly CountingModel[]): void {
  for (const [input, records] of partitions.entries()) {
    const source = `${INPUT}/${input}@${id}`
    for (const [partition, model] of models.entries()) {
      const taken = model.taken.filter((event) => event.source.source === source)
      const offsets = taken.map((event) => event.source.offset)
      const wanted = records.flatMap(({ value }, offset) => (isEventOf(value, partition) ? [offset] : []))
      assert.deepEqual(offsets, isWhole ? wanted : wanted.slice(0, offsets.length), `of ${source} in ${partition}`)
      for (const event of taken) assert.equal(records[event.source.offset]?.value.split(':')[0], event.key, source)
    }
  }
}

const isEventOf = (value: string, partition: number): boolean =>
  isEvent(value) && partitionOf(value.split(':')[0] ?? '', PARTITIONS) === partition
const isEvent = (value: string): boolean => value !== '' && value !== 'skip'

/** Whoever is told that the inputs are taken in up to a time has all before it that stood in them then. */
function checkIntake(incarnations: readonly Incarnation[], models: readonly CountingModel[]): void {
  for (const [partition, { taken }] of models.entries()) {
    for (const told of taken.filter(({ mode }) => mode.startsWith('takenIn'))) {
      const { asOf, inputs } = JSON.parse(told.mode.slice('takenIn'.length)) as InputsTakenIn
      const at = incarnations.findLastIndex(({ sinceMs }, number) => number === 0 || sinceMs < asOf)
      const incarnation = incarnations[at]
      const isOver = told.timestamp >= (incarnations[at + 1]?.sinceMs ?? Infinity)
      if (incarnation === undefined || isOver) continue
      for (const { partition: input, offset: end } of inputs) {
        const records: readonly InputRecord[] = incarnation.partitions[input] ?? []
        const missed = records.findIndex(({ appendedMs }, offset) => offset >= end && appendedMs < asOf)
        assert.equal(missed, -1, `record ${missed} of input ${input} was there at ${asOf}, before ${end}`)
        for (const [offset, { value }] of records.slice(0, end).entries()) {
          if (!isEventOf(value, partition)) continue
          const source = `${INPUT}/${input}@${incarnation.id}`
          const isBefore = taken.some((event) => isOf(event, source, offset) && stands(event, told))
          assert.ok(isBefore, `${source}/${offset} does not stand before ${told.offset}, which says that it does`)
        }
      }
    }
  }
}

const isOf = (event: TakenEvent, source: string, offset: number): boolean =>
  event.source.source === source && event.source.offset === offset
const stands = (event: TakenEvent, before: TakenEvent): boolean =>
  event.offset < before.offset || (event.offset === before.offset && event.index < before.index)

/** What folds sent to a partition came there, once each. */
function checkSends(partition: number, models: readonly CountingModel[], { taken }: CountingModel): void {
  const sent = models.flatMap(({ sends }) => sends.filter((send) => send.startsWith(`${partition} `)))
  const came = taken.filter(({ key }) => /-(?:sent|everywhere)$/.test(key)).map(({ key }) => `${partition} ${key}`)
  assert.deepEqual(came.sort(), sent.sort(), `events sent to partition ${partition}`)
}

/** Each standby holds what its owner holds, to the row, the engine's own rows too. */
async function checkStandbys({ cluster, instances }: ClusterRun): Promise<void> {
  await cluster.advance(1500, 250)
  for (const { application } of instances) {
    for (const standby of application.standbys) {
      const owner = cluster.owners().find(({ partition }) => partition === standby.partition)
      assert.equal(standby.state, 'RUNNING')
      assert.ok(owner !== undefined)
      const rows = await TestCluster.rowsOf(standby.rows.store)
      assert.deepEqual(rows, await TestCluster.rowsOf(owner.rows.store), `standby of ${standby.partition}`)
    }
  }
}

/** An instance that begins with nothing but the changelogs comes to the same state. */
async function checkChangelogs(run: ClusterRun): Promise<void> {
  const before = await run.cluster.digests()
  await run.restartOnNothing()
  assert.deepEqual(await run.cluster.digests(), before, 'digests from the changelogs')
}
