import { compareText } from '../../state-stores/overlay.js'
import { parseDeadlineKey } from './table-runtime.js'

/** Read at once. */
const PAGE = 1000
/** Behind all keys of deadlines, which are hexadecimal digits at first. */
const END = '\uffff'

/** The earliest deadlines of a task, kept in memory so that no timer needs a walk over the store. */
export class DeadlineWindow {
  /** In order; all there are in front of `#end`. */
  #keys: string[] = []
  #end = ''
  /** Beyond so many the later half is forgotten. */
  #most = 2 * PAGE
  /** What came and went while the store was read. */
  #changes: (readonly [key: string, isArmed: boolean])[] | undefined

  get keys(): readonly string[] {
    return this.#keys
  }

  /** Time of the first deadline that may stand behind the window, ms; infinity: none does. */
  get endsAt(): number {
    if (this.#end === END) return Number.POSITIVE_INFINITY
    return this.#end === '' ? Number.NEGATIVE_INFINITY : parseDeadlineKey(this.#end).due
  }

  /** Nothing is known. */
  clear(): void {
    this.#keys = []
    this.#end = ''
  }

  armed(key: string): void {
    this.#changes?.push([key, true])
    this.#change(key, true)
  }

  disarmed(key: string): void {
    this.#changes?.push([key, false])
    this.#change(key, false)
  }

  /**
   * Reads on where the window ends; `scan` tells the keys behind one in order, as of its call. What `armed` and `disarmed` tell
   * meanwhile holds over what is read.
   */
  async extend(
    scan: (after: string | undefined) => AsyncIterable<readonly (readonly [key: string, ...unknown[]])[]>,
  ): Promise<void> {
    this.#changes = []
    try {
      const found: string[] = []
      let end = END
      walk: for await (const page of scan(this.#keys.at(-1))) {
        for (const [key] of page) {
          end = key
          if (found.length === PAGE) break walk
          found.push(key)
        }
        end = END
      }
      this.#keys.push(...found)
      this.#end = end
      for (const [key, isArmed] of this.#changes) this.#change(key, isArmed)
    } finally {
      this.#changes = undefined
    }
    this.#most = Math.max(2 * PAGE, 2 * this.#keys.length)
  }

  #change(key: string, isArmed: boolean): void {
    if (compareText(key, this.#end) >= 0) return
    const keys = this.#keys
    let low = 0
    let high = keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareText(keys[middle] as string, key) < 0) low = middle + 1
      else high = middle
    }
    const isKnown = keys[low] === key
    if (isArmed === isKnown) return
    if (isArmed) keys.splice(low, 0, key)
    else keys.splice(low, 1)
    // While the store is read, what it tells would stand behind a gap.
    if (keys.length <= this.#most || this.#changes !== undefined) return
    const half = keys.length >> 1
    this.#end = keys[half] as string
    keys.length = half
  }
}
