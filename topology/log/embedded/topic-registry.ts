import type { KeyValueStore } from '../../../state-stores/key-value-store.js'
import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { TopicPartition, TopicSpec } from '../log.js'
import { checkedRows } from './checked-rows.js'
import type { PartitionContext } from './partition.js'
import { Partition } from './partition.js'
import { textOf, topicKey, topicRows } from './rows.js'
import type { WriteQueue } from './write-queue.js'

interface TopicRow {
  readonly number: number
  readonly incarnation: string
  readonly spec: TopicSpec
}

export interface Topic extends TopicRow {
  readonly partitions: readonly Partition[]
}

/** The topics of one log, by name. */
export class TopicRegistry {
  readonly #topics = new Map<string, Topic>()
  readonly #context: PartitionContext
  readonly #queue: WriteQueue
  readonly #newIncarnation: () => string
  #creating: Promise<void> = Promise.resolve()

  private constructor(context: PartitionContext, queue: WriteQueue, newIncarnation: () => string) {
    this.#context = context
    this.#queue = queue
    this.#newIncarnation = newIncarnation
  }

  static async recover(
    context: PartitionContext,
    queue: WriteQueue,
    newIncarnation: () => string,
  ): Promise<TopicRegistry> {
    const registry = new TopicRegistry(context, queue, newIncarnation)
    for (const [name, row] of await topicRowsOf(context.store)) registry.#topics.set(name, await registry.#load(row))
    return registry
  }

  all(): Iterable<Topic> {
    return this.#topics.values()
  }

  find(name: string): Topic | undefined {
    return this.#topics.get(name)
  }

  /** Errors: TOPIC_UNKNOWN. */
  get(name: string): Topic {
    const topic = this.#topics.get(name)
    if (topic === undefined)
      throw new LogError('TOPIC_UNKNOWN', `no topic ${cut(name)}`, { details: { topic: cut(name) } })
    return topic
  }

  /** Errors: TOPIC_UNKNOWN, PARTITION_UNKNOWN. */
  partition({ topic, partition }: TopicPartition): Partition {
    const { partitions } = this.get(topic)
    const found = partitions[partition]
    if (found !== undefined) return found
    throw new LogError(
      'PARTITION_UNKNOWN',
      `topic ${cut(topic)} has ${partitions.length} partitions, no ${cut(partition)}`,
      {
        details: { topic, partition, partitions: partitions.length },
      },
    )
  }

  /**
   * Creates what is missing, all or nothing. An existing topic takes over retention and timestamp type, so a changed
   * setting holds from the next start on. Errors: TOPIC_MISMATCH.
   */
  create(specs: readonly TopicSpec[]): Promise<void> {
    const created = this.#creating.then(() => this.#create(specs))
    this.#creating = created.catch(() => undefined)
    return created
  }

  /** In the place of the topic of this name comes another one, empty, that may have other partitions. Errors: TOPIC_UNKNOWN. */
  recreate(spec: TopicSpec): Promise<void> {
    const recreated = this.#creating.then(async () => {
      const { partitions } = this.get(spec.name)
      const row = { number: this.#highestNumber() + 1, incarnation: this.#newIncarnation(), spec: { ...spec } }
      await this.#write(new Map([[spec.name, row]]))
      this.#topics.set(spec.name, await this.#load(row))
      for (const partition of partitions) await partition.deleteBefore(partition.end)
    })
    this.#creating = recreated.catch(() => undefined)
    return recreated
  }

  #highestNumber(): number {
    return Math.max(0, ...[...this.#topics.values()].map((topic) => topic.number))
  }

  async #create(specs: readonly TopicSpec[]): Promise<void> {
    const rows = new Map<string, TopicRow>()
    let number = this.#highestNumber()
    for (const spec of specs) {
      const existing = rows.get(spec.name) ?? this.#topics.get(spec.name)
      checkSpec(spec, existing?.spec)
      if (existing !== undefined && sameSpec(spec, existing.spec)) continue
      const { incarnation } = existing ?? { incarnation: this.#newIncarnation() }
      rows.set(spec.name, { number: existing?.number ?? ++number, incarnation, spec: { ...spec } })
    }
    if (rows.size === 0) return
    await this.#write(rows)
    for (const [name, row] of rows) {
      const partitions = this.#topics.get(name)?.partitions
      this.#topics.set(name, partitions === undefined ? await this.#load(row) : { ...row, partitions })
    }
  }

  #write(rows: ReadonlyMap<string, TopicRow>): Promise<void> {
    return this.#queue.submit(0, (operations) => {
      for (const [name, row] of rows) operations.push({ key: topicKey(name), value: Buffer.from(JSON.stringify(row)) })
      return { applied: () => undefined, undo: () => undefined }
    })
  }

  async #load(row: TopicRow): Promise<Topic> {
    const partitions: Partition[] = []
    for (let i = 0; i < row.spec.partitions; i++) {
      partitions.push(await Partition.recover(row.spec.name, row.number, i, this.#context))
    }
    return { ...row, partitions }
  }
}

async function topicRowsOf(store: KeyValueStore): Promise<Map<string, TopicRow>> {
  const rows = await checkedRows(store, topicRows)
  return new Map(rows.map(([key, value]) => [textOf(key), JSON.parse(value.toString()) as TopicRow]))
}

function checkSpec(spec: TopicSpec, existing: TopicSpec | undefined): void {
  if (!Number.isInteger(spec.partitions) || spec.partitions < 1) {
    throw new RangeError(
      `topic ${cut(spec.name)} needs a whole number of partitions from 1 on, not ${cut(spec.partitions)}`,
    )
  }
  if (existing === undefined || (existing.partitions === spec.partitions && existing.cleanup === spec.cleanup)) return
  throw new LogError(
    'TOPIC_MISMATCH',
    `topic ${cut(spec.name)} has ${existing.partitions} partitions and clean-up ${existing.cleanup}, ` +
      `expected were ${spec.partitions} and ${spec.cleanup}`,
    { details: { topic: spec.name, partitions: existing.partitions, cleanup: existing.cleanup } },
  )
}

function sameSpec(a: TopicSpec, b: TopicSpec): boolean {
  return a.retentionMs === b.retentionMs && a.retentionBytes === b.retentionBytes && a.timestampType === b.timestampType
}
