import type { NewRecord } from '../../../topology/log/log.js'
import { inputTopics } from '../../../topology/topics.js'
import { countingProcessor } from '../../../topology/counting-processor.js'
import type { TestCluster } from '../../../topology/system/test-cluster.js'
import { PARTITIONS } from './story.js'

export const INPUT = 'count-me'

export interface InputRecord {
  readonly value: string
  readonly appendedMs: number
}

/** The input topic as it was from one deletion to the next. */
export interface Incarnation {
  readonly id: string
  readonly sinceMs: number
  readonly partitions: readonly InputRecord[][]
}

/** The producers' side of the input topic: what was sent to each of its incarnations. */
export class Inputs {
  readonly #cluster: TestCluster
  readonly incarnations: Incarnation[] = []

  constructor(cluster: TestCluster) {
    this.#cluster = cluster
  }

  async open(): Promise<void> {
    await this.#cluster.log.createTopics(inputTopics([countingProcessor], PARTITIONS))
    await this.#begin(PARTITIONS)
  }

  async send(partition: number, values: readonly string[]): Promise<void> {
    const { partitions } = this.current
    const at = partition % partitions.length
    const records = values.map((value): NewRecord => ({ key: null, value: Buffer.from(value) }))
    const appendedMs = this.#cluster.clock.now()
    partitions[at]?.push(...values.map((value) => ({ value, appendedMs })))
    await this.#cluster.log.append(INPUT, at, records)
  }

  /** The topic is deleted and made anew. */
  async remake(partitions: number): Promise<void> {
    for (const spec of inputTopics([countingProcessor], partitions)) await this.#cluster.log.recreateTopic(spec)
    await this.#begin(partitions)
  }

  get current(): Incarnation {
    const last = this.incarnations.at(-1)
    if (last === undefined) throw new Error('the inputs are not open')
    return last
  }

  async #begin(count: number): Promise<void> {
    const id = (await this.#cluster.log.topic(INPUT))?.incarnation ?? ''
    const partitions = Array.from({ length: count }, (): InputRecord[] => [])
    this.incarnations.push({ id, sinceMs: this.#cluster.clock.now(), partitions })
  }
}
