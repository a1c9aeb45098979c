import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import type { Random } from '../../../common/random.js'
import type { KeyValueStore } from '../../../state-stores/key-value-store.js'
import { LogError } from '../../../topology/log/errors.js'
import type { Log } from '../../../topology/log/log.js'

/** How an instance's log and disk are at the moment. */
export interface Trouble {
  /** Share of calls that fail. */
  logFails: number
  /** ms that an operation of a store takes at most. */
  storeMs: number
}

const refused = (): LogError => new LogError('LOG_UNAVAILABLE', 'the log does not answer')

/** A log whose calls fail now and then; half of what is appended is there all the same. */
export function failingLog(log: Log, trouble: Trouble, random: Random): Log {
  const fails = (): boolean => trouble.logFails > 0 && random() < trouble.logFails
  const unless = <T>(work: () => Promise<T>): Promise<T> => (fails() ? Promise.reject(refused()) : work())
  const written = async <T>(write: () => Promise<T>): Promise<T> => {
    if (!fails()) return write()
    if (random() < 0.5) await write()
    throw refused()
  }
  return {
    createTopics: (specs) => log.createTopics(specs),
    topic: (name) => unless(() => log.topic(name)),
    topics: () => unless(() => log.topics()),
    append: (topic, partition, records) => written(() => log.append(topic, partition, records)),
    offsets: (at) => unless(() => log.offsets(at)),
    offsetForTime: (at, timestampMs) => unless(() => log.offsetForTime(at, timestampMs)),
    read: (at, offset, options) => unless(() => log.read(at, offset, options)),
    committed: (group, at) => unless(() => log.committed(group, at)),
    writer: async (transactionalId) => {
      const writer = await unless(() => log.writer(transactionalId))
      return { append: (parts) => written(() => writer.append(parts)), close: () => writer.close() }
    },
    join: (options) => log.join(options),
    close: () => log.close(),
  }
}

/** A store that takes its time; its writes stay in their order. */
export function slowStore(store: KeyValueStore, trouble: Trouble, clock: Clock, random: Random): KeyValueStore {
  let writes: Promise<unknown> = Promise.resolve()
  const slowly = async (): Promise<void> => {
    if (trouble.storeMs > 0) await sleep(clock, Math.ceil(random() * trouble.storeMs))
  }
  const inOrder = <T>(write: () => Promise<T>): Promise<T> => {
    if (trouble.storeMs === 0) return write()
    const done = writes.then(slowly).then(write)
    writes = done.catch(() => undefined)
    return done
  }
  return {
    location: store.location,
    get openIterators() {
      return store.openIterators
    },
    get: async (key) => {
      await slowly()
      return store.get(key)
    },
    getMany: async (keys) => {
      await slowly()
      return store.getMany(keys)
    },
    write: (operations, options) => inOrder(() => store.write(operations, options)),
    entries: (range) => store.entries(range),
    texts: (range) => store.texts(range),
    verify: (inTurn) => store.verify(inTurn),
    clear: (range) => inOrder(() => store.clear(range)),
    close: () => store.close(),
  }
}
