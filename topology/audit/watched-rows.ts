import type { RowLookUp, Table } from '../processor.js'
import type { RowChange } from '../task/row-store.js'
import type { JournalFold } from './journal-fold.js'
import { rowName } from './rows.js'

/** The rows of one subject, and those that its state follows from, kept in step with a fold. */
export class WatchedRows {
  readonly #fold: JournalFold
  readonly subject: string
  readonly #rows = new Map<string, unknown>()
  readonly #storeKeys: string[] = []

  private constructor(fold: JournalFold, subject: string) {
    this.#fold = fold
    this.subject = subject
  }

  static async of(fold: JournalFold, subject: string): Promise<WatchedRows> {
    const watched = new WatchedRows(fold, subject)
    for (const table of fold.processor.tables) {
      watched.#watch(table, subject, await fold.rows.read(fold.rows.state(table), subject))
    }
    watched.#watchRelated()
    return watched
  }

  /** The subject's state in short; null where there is none, or the domain does not tell. */
  get state(): Readonly<Record<string, unknown>> | null {
    return this.#fold.processor.subjects?.state(this.subject, this.#get) ?? null
  }

  /** Keys under which they are stored. */
  get storeKeys(): readonly string[] {
    return this.#storeKeys
  }

  isWatched(changes: readonly RowChange[]): boolean {
    return changes.some(({ table, key }) => this.#rows.has(rowName(table, key)))
  }

  /** Takes in what an entry has changed; answers what of that is watched. */
  take(changes: readonly RowChange[]): readonly RowChange[] {
    const own = changes.filter(({ table, key }) => this.#rows.has(rowName(table, key)))
    for (const { table, key, after } of own) this.#rows.set(rowName(table, key), after)
    if (own.length > 0) this.#watchRelated()
    return own
  }

  readonly #get: RowLookUp = <Row>(table: Table<Row>, key: string) =>
    this.#rows.get(rowName(table, key)) as Row | undefined

  #watchRelated(): void {
    const { rows, processor } = this.#fold
    for (const { table, key } of processor.subjects?.relatedRows(this.subject, this.#get) ?? []) {
      if (!this.#rows.has(rowName(table, key))) this.#watch(table, key, rows.state(table).resident?.get(key))
    }
  }

  #watch(table: Table<unknown>, key: string, row: unknown): void {
    this.#rows.set(rowName(table, key), row)
    this.#storeKeys.push(`${this.#fold.rows.state(table).runtime.prefix}${key}`)
  }
}
