import { partitionOf } from '../../../topology/partitioner.js'
import { openAnchor } from '../anchor.js'
import { deviceIds } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { PARTITIONS } from '../heartbeats.js'
import type { HttpRequest } from '../http-connection.js'
import { startHttpCaller } from '../http-caller.js'
import type { HttpCaller } from '../http-caller.js'
import { startTwoInstances } from '../two-instances.js'

const DEVICES = 12_000
const READ_MS = 4000
const CONNECTIONS = 50
/** A load that leaves the machine room: what a read takes when it need not wait for others. */
const RATE_PER_S = 1000
/** Keys that are read, over and over. */
const KEYS = 1000
/** One after the other of all sides, so that what else the machine does falls on each. */
const ROUNDS = 3

/** Who is asked: the key's owner, the other instance, another implementation's small server. */
interface Side {
  readonly caller: HttpCaller
  readonly requests: readonly HttpRequest[]
  readonly single: number[]
  readonly many: number[]
  readonly atRate: number[]
}

/**
 * Reads of keys that another instance owns, asked there and here; two processes on the Kafka cluster of PULSEFOLD_KAFKA_BROKERS.
 * With BENCH_ANCHOR, the same client reads from another implementation's server in turn.
 */
export async function forward(directory: string): Promise<readonly Figure[]> {
  const ids = deviceIds(DEVICES)
  const instances = await startTwoInstances(directory, ids)
  const anchor = await (await openAnchor(directory, instances.brokers))?.serve()
  const ofOwner = ids.filter((id) => instances.owned.has(partitionOf(id, PARTITIONS))).slice(0, KEYS)
  const paths = ofOwner.map((id) => `/ncmp/v1/ch/${id}`)
  const owner = sideOf(instances.callers.owner, paths)
  const here = sideOf(instances.callers.here, paths)
  const anchorCaller = anchor && startHttpCaller(anchor.url)
  const theirs = anchorCaller && sideOf(anchorCaller, anchor.paths(KEYS))
  const sides = [owner, here, ...(theirs === undefined ? [] : [theirs])]
  for (const side of sides) await measure(side, CONNECTIONS)
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of sides) {
      side.single.push(...(await measure(side, 1)))
      side.many.push(...(await measure(side, CONNECTIONS)))
      side.atRate.push(...(await side.caller.send(side.requests, READ_MS, RATE_PER_S)).durationsMs)
    }
  }
  anchorCaller?.close()
  anchor?.stop()
  await instances.stop()
  return figures(owner, here, theirs)
}

function sideOf(caller: HttpCaller, paths: readonly string[]): Side {
  return { caller, requests: paths.map((path) => ({ method: 'GET', path })), single: [], many: [], atRate: [] }
}

async function measure({ caller, requests }: Side, connections: number): Promise<readonly number[]> {
  return (await caller.sendAtOnce(requests, READ_MS, connections)).durationsMs
}

function figures(owner: Side, here: Side, theirs: Side | undefined): readonly Figure[] {
  const [median, p99] = [0.5, 0.99].map((share) => (sample: readonly number[]) => percentile(sample, share)) as [
    (sample: readonly number[]) => number,
    (sample: readonly number[]) => number,
  ]
  const perSecond = (sample: readonly number[]): number => (sample.length / (ROUNDS * READ_MS)) * 1000
  const beside = (ms: number): string => `${ms.toFixed(2)} ms when its owner is asked`
  const asked = {
    what: `reads at ${CONNECTIONS} connections, owner asked`,
    value: perSecond(owner.many),
    unit: '/s',
  } as const
  return [
    { what: 'a forwarded read, p50', value: median(here.single), unit: 'ms', compared: beside(median(owner.single)) },
    {
      what: 'a forwarded read, p99',
      value: p99(here.single),
      unit: 'ms',
      atMost: 5,
      compared: beside(p99(owner.single)),
    },
    {
      what: 'the same, p50',
      value: median(here.single) / median(owner.single),
      unit: 'times',
      compared: 'owner asked',
    },
    theirs === undefined
      ? asked
      : {
          ...asked,
          atLeast: perSecond(theirs.many),
          compared: `its small server: ${(perSecond(owner.many) / perSecond(theirs.many)).toFixed(2)} times`,
        },
    {
      what: `a forwarded read at ${RATE_PER_S} a second, p99`,
      value: p99(here.atRate),
      unit: 'ms',
      atMost: 5,
      compared: beside(p99(owner.atRate)),
    },
    { what: `reads at ${CONNECTIONS} connections, forwarded`, value: perSecond(here.many), unit: '/s' },
    { what: 'one of these, p99', value: p99(here.many), unit: 'ms', atMost: 5, compared: beside(p99(owner.many)) },
  ]
}
