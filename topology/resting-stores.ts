import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import type { KeyValueStore, StoreOptions, StoreProvider } from '../state-stores/key-value-store.js'

/** Where stores are kept, besides opening them. */
export interface StoreDisk {
  /** Names of the stores that are there, open or not; others may be among them. */
  names(): Promise<readonly string[]>
  /** Deletes one that is closed. */
  remove(name: string): Promise<void>
}

export interface RestingStoresOptions {
  readonly stores: StoreProvider
  readonly disk: StoreDisk
  readonly clock: Clock
  /** A store that nothing has opened for so long is deleted. (Kafka Streams' `state.cleanup.delay.ms`) */
  readonly cleanupDelayMs: number
  /** Only these are looked at. */
  readonly isOurs: (name: string) => boolean
  /** The group says what is to be here; while it does not, nobody knows what rests for good. */
  readonly isPlaced: () => boolean
  readonly onRemoved: (name: string) => void
  readonly onError: (error: Error) => void
}

const LOOKS_PER_DELAY = 10

/** Opens stores, and knows those on disk that nothing has open: copies of former tasks and standbys, kept for a while. */
export class RestingStores implements StoreProvider {
  readonly #options: RestingStoresOptions
  /** Since when they rest, on the monotonic clock. */
  readonly #since = new Map<string, number>()
  readonly #removing = new Map<string, Promise<void>>()

  constructor(options: RestingStoresOptions) {
    this.#options = options
  }

  get names(): readonly string[] {
    return [...this.#since.keys()]
  }

  /** Finds what a former process has left, then deletes what rests too long, until `signal`. */
  async watch(signal: AbortSignal): Promise<void> {
    const { disk, isOurs } = this.#options
    for (const name of await disk.names()) if (isOurs(name)) this.#rests(name)
    void this.#clean(signal)
  }

  async open(name: string, options?: StoreOptions): Promise<KeyValueStore> {
    await this.#removing.get(name)
    this.#since.delete(name)
    const store = await this.#options.stores.open(name, options).catch((thrown: unknown) => {
      this.#rests(name)
      throw thrown
    })
    const close = (): Promise<void> => store.close().finally(() => this.#rests(name))
    return Object.assign(Object.create(store) as KeyValueStore, { close })
  }

  setAside(name: string, reason: string): Promise<string> {
    this.#since.delete(name)
    return this.#options.stores.setAside(name, reason)
  }

  #rests(name: string): void {
    this.#since.set(name, this.#options.clock.monotonic())
  }

  async #clean(signal: AbortSignal): Promise<void> {
    const { clock, cleanupDelayMs, isPlaced } = this.#options
    for (;;) {
      await sleep(clock, Math.ceil(cleanupDelayMs / LOOKS_PER_DELAY), signal)
      if (signal.aborted) return
      for (const [name, since] of [...this.#since]) {
        if (!isPlaced()) this.#rests(name)
        else if (clock.monotonic() - since >= cleanupDelayMs) await this.#remove(name)
      }
    }
  }

  async #remove(name: string): Promise<void> {
    // It may have been opened while another one was deleted.
    if (!this.#since.delete(name)) return
    const { disk, onRemoved, onError } = this.#options
    const removing = disk.remove(name).then(
      () => onRemoved(name),
      (thrown: unknown) => {
        this.#rests(name)
        onError(ensureError(thrown))
      },
    )
    this.#removing.set(name, removing)
    await removing
    this.#removing.delete(name)
  }
}
