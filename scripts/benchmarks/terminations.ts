import { partitionOf } from '../../topology/partitioner.js'
import type { LogRecord, NewRecord } from '../../topology/log/log.js'
import type { Pulsefold } from '../process/pulsefold.js'
import { PARTITIONS } from './heartbeats.js'

const MESSAGES_TOPIC = 'e2t-messages'
const REQUESTS_TOPIC = 'e2t-keep-alive-requests'

export interface Termination {
  readonly ric: string
  readonly address: string
}

/** Messages of E2 terminations in the log of a service, and the requests that they get. */
export class BenchTerminations {
  readonly #service: Pulsefold
  readonly #next: number[]
  #ids = 0

  constructor(service: Pulsefold) {
    this.#service = service
    this.#next = Array.from({ length: PARTITIONS }, () => 0)
  }

  init(terminations: readonly Termination[]): Promise<void> {
    return this.#append(terminations, 1100, ({ address }) => ({ address, fqdn: address, pod_name: '' }))
  }

  answer(terminations: readonly Termination[]): Promise<void> {
    return this.#append(terminations, 1102, ({ address }) => ({ address }))
  }

  setUp({ ric, address }: Termination, ranNames: readonly string[]): Promise<void> {
    const globalNbId = { plmnId: '02F829', nbId: '001100000011000000110000' }
    return this.#append(
      ranNames.map((ranName) => ({ ric, address, ranName })),
      12001,
      ({ ranName }) => ({
        e2tAddress: address,
        ranName,
        globalNbId,
        nodeType: 'GNB',
        ranFunctions: [],
        transactionId: '1',
      }),
    )
  }

  /** Requests that have come since the last call. */
  async requests(): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = []
    for (const [partition, from] of this.#next.entries()) {
      const at = { topic: REQUESTS_TOPIC, partition }
      const { end } = await this.#service.application.log.offsets(at)
      for (let offset = from; offset < end;) {
        const batch = await this.#service.application.log.read(at, offset)
        found.push(...batch.records)
        offset = batch.next
      }
      this.#next[partition] = end
    }
    return found
  }

  async #append<One extends Termination>(
    all: readonly One[],
    mtype: number,
    dataOf: (one: One) => object,
  ): Promise<void> {
    const byPartition = new Map<number, NewRecord[]>()
    for (const one of all) {
      const partition = partitionOf(one.ric, PARTITIONS)
      const records = byPartition.get(partition) ?? []
      byPartition.set(partition, records)
      records.push(recordOf(one, mtype, String(++this.#ids), dataOf(one)))
    }
    const appends = [...byPartition].map(([partition, records]) =>
      this.#service.application.log.append(MESSAGES_TOPIC, partition, records),
    )
    await Promise.all(appends)
  }
}

function recordOf({ ric, address }: Termination, mtype: number, id: string, data: object): NewRecord {
  const headers = Object.entries({
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: address,
    ce_type: 'org.oran.e2.message',
    ce_mtype: String(mtype),
    ce_ric: ric,
  }).map(([name, value]) => [name, Buffer.from(value)] as const)
  return { key: Buffer.from(ric), value: Buffer.from(JSON.stringify(data)), headers }
}
