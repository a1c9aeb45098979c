import { avroType } from '../schemas/avro.js'
import { compareText } from '../state-stores/overlay.js'
import { partitionOf } from '../topology/partitioner.js'
import type {
  Compared,
  Deadline,
  DeadLetterProblem,
  EffectRequest,
  EventPosition,
  FoldContext,
  JournalEvent,
  OutputRecord,
  Processor,
  Query,
  QueryReader,
  Reads,
  Table,
} from '../topology/processor.js'
import { KitRows, within } from './fold-kit-rows.js'

/** One entry of a journal as the kit keeps it. */
type Entry = { readonly time: number; readonly owed?: string } & (
  | { readonly event: JournalEvent; readonly deadline?: undefined }
  | { readonly deadline: Deadline; readonly event?: undefined }
  | { readonly term: number; readonly event?: undefined; readonly deadline?: undefined }
)

export interface KitOutput extends OutputRecord {
  readonly topic: string
  readonly partition: number
}

interface Partition {
  readonly number: number
  readonly journal: Entry[]
  readonly rows: KitRows
  readonly deadlines: Map<string, Deadline>
  readonly owed: Map<string, EffectRequest>
  readonly memory: unknown
}

export interface FoldKitOptions<Settings> {
  readonly partitions?: number
  readonly settings?: Settings
  /** Journal time at the start, ms. */
  readonly time?: number
}

/**
 * Given, when, then for folds, without the engine: runs a processor over some partitions in memory, one event after the other.
 * What folds send arrives at once and in order, deadlines fire when the test lets time pass; rows and events go through their
 * codecs, and a fold that touches a row it has not declared fails. For tests.
 */
export class FoldKit<Event extends JournalEvent, Settings> {
  readonly outputs: KitOutput[] = []
  readonly deadLetters: (DeadLetterProblem & { readonly partition: number })[] = []
  readonly counts = new Map<string, number>()
  /** Rules that folds have named, in order. */
  readonly rules: { readonly rule: string; readonly compared: Compared }[] = []
  settings: Settings
  time: number
  /** Number of the owner's term. */
  epoch = 1
  /** Whether outputs are acknowledged, and asks for the inputs' intake answered, at once; what is held back gathers here. */
  acknowledges = true
  takesIn = true
  readonly unacknowledged: Event[] = []
  readonly notTakenIn: Event[] = []
  readonly #processor: Processor<Event, Settings>
  readonly #partitions: readonly Partition[]
  readonly #types: ReadonlyMap<string, ReturnType<typeof avroType>>
  readonly #sent: { readonly partition: number; readonly event: JournalEvent }[] = []

  constructor(processor: Processor<Event, Settings>, options: FoldKitOptions<Settings> = {}) {
    this.#processor = processor
    this.settings = options.settings ?? processor.settings
    this.time = options.time ?? 1_800_000_000_000
    this.#types = new Map(Object.entries(processor.events).map(([name, schema]) => [name, avroType(schema)]))
    this.#partitions = Array.from({ length: options.partitions ?? 3 }, (_, number) => ({
      number,
      journal: [],
      rows: new KitRows(processor.tables),
      deadlines: new Map(),
      owed: new Map(),
      memory: processor.memory?.(),
    }))
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.#partitions.length)
  }

  /** Folds an event alone: what it sends waits for `deliver`. Answers with what the fold answered. */
  append(to: string | number, event: Event): unknown {
    return this.#fold(this.#partition(to), { time: this.time, event })
  }

  /** Folds all that folds have sent, in order, and what follows. */
  deliver(): void {
    for (let sent = this.#sent.shift(); sent !== undefined; sent = this.#sent.shift()) {
      this.#fold(this.#partition(sent.partition), { time: this.time, event: sent.event })
    }
  }

  /** Folds an event and all that follows at this moment: what is sent, and deadlines due. */
  when(to: string | number, event: Event): unknown {
    const answer = this.append(to, event)
    this.advance(0)
    return answer
  }

  /** Lets time pass; deadlines fire in order, each at its time. */
  advance(ms: number): void {
    const until = this.time + ms
    this.deliver()
    for (let next = this.#nextDeadline(until); next !== undefined; next = this.#nextDeadline(until)) {
      this.time = Math.max(this.time, next.deadline.due)
      this.fire(next.partition, next.deadline)
      this.deliver()
    }
    this.time = until
  }

  /** A new owner's term begins in every partition, with the settings as they are then. */
  beginTerm(settings: Settings = this.settings): void {
    this.settings = settings
    this.epoch++
    for (const partition of this.#partitions) this.#fold(partition, { time: this.time, term: this.epoch })
  }

  /** Folds one deadline, as a timer-fired record would; ignored where it is not armed. */
  fire(partition: Partition | number, deadline: Deadline): void {
    const at = typeof partition === 'number' ? this.#partition(partition) : partition
    if (at.deadlines.has(deadlineKey(deadline))) this.#fold(at, { time: this.time, deadline })
  }

  deadlines(to: string | number): readonly Deadline[] {
    return [...this.#partition(to).deadlines.values()].sort(byDue)
  }

  owed(to: string | number): readonly EffectRequest[] {
    return [...this.#partition(to).owed.values()]
  }

  /** Carries out everything owed; `perform` makes the result. */
  perform(perform: (request: EffectRequest) => Event): void {
    for (const partition of this.#partitions) {
      for (const request of [...partition.owed.values()]) {
        this.#fold(partition, { time: this.time, event: perform(request), owed: request.id })
      }
    }
    this.advance(0)
  }

  /** Folds the result of one effect; ignored where it is not owed. */
  performOne(to: string | number, effectId: string, result: Event): void {
    this.#fold(this.#partition(to), { time: this.time, event: result, owed: effectId })
    this.advance(0)
  }

  count(counter: string, label = ''): number {
    return this.counts.get(`${counter}/${label}`) ?? 0
  }

  row<Row>(table: Table<Row>, to: string | number, key: string): Row | undefined {
    return this.#partition(to).rows.get(table, key)
  }

  query<Arguments, Result>(query: Query<Arguments, Result>, to: string | number, args: Arguments): Promise<Result> {
    return query.run(this.#reader(this.#partition(to)), args)
  }

  queryAll<Arguments, Result>(query: Query<Arguments, Result>, args: Arguments): Promise<Result[]> {
    return Promise.all(this.#partitions.map(({ number }) => this.query(query, number, args)))
  }

  /** All rows as text: equal where states are equal, byte for byte. */
  digest(): string {
    const lines = this.#partitions.flatMap(({ number, rows }) => rows.texts().map((text) => `${number}/${text}`))
    return lines.sort(compareText).join('\n')
  }

  /** A kit that has folded the same journals anew, its outputs and all. */
  replayed(): FoldKit<Event, Settings> {
    const kit = new FoldKit(this.#processor, { partitions: this.#partitions.length, settings: this.settings })
    for (const { number, journal } of this.#partitions) {
      for (const entry of journal) kit.#fold(kit.#partition(number), entry)
    }
    kit.#sent.length = 0
    return kit
  }

  #partition(to: string | number): Partition {
    const partition = this.#partitions[typeof to === 'number' ? to : this.partitionOf(to)]
    if (partition === undefined) throw new RangeError(`no partition ${to}`)
    return partition
  }

  #nextDeadline(until: number): { readonly partition: Partition; readonly deadline: Deadline } | undefined {
    const due = this.#partitions.flatMap((partition) =>
      Array.from(partition.deadlines.values(), (deadline) => ({ partition, deadline })),
    )
    const [first] = due.filter(({ deadline }) => deadline.due <= until).sort((a, b) => byDue(a.deadline, b.deadline))
    return first
  }

  #fold(partition: Partition, entry: Entry): unknown {
    const processor = this.#processor
    const position = { offset: partition.journal.length, index: 0 }
    partition.journal.push(entry)
    let answer: unknown
    const answered = (value: unknown): void => {
      answer = JSON.parse(JSON.stringify(value))
    }
    if (entry.deadline !== undefined) {
      partition.deadlines.delete(deadlineKey(entry.deadline))
      const reads = processor.readsOfDeadline(entry.deadline)
      processor.onDeadline(entry.deadline, this.#context(partition, position, entry.time, reads, answered))
      return answer
    }
    if (entry.event === undefined) {
      processor.onTerm?.(this.#context(partition, position, entry.time, { rows: [] }, answered))
      return undefined
    }
    if (entry.owed !== undefined && !partition.owed.delete(entry.owed)) return undefined
    const type = this.#types.get(entry.event.type)
    if (type === undefined) throw new TypeError(`event ${entry.event.type} has no schema`)
    const data = type.fromBuffer(type.toBuffer(entry.event.data)) as object
    const event = { type: entry.event.type, data } as Event
    processor.evolve(event, this.#context(partition, position, entry.time, processor.reads(event), answered))
    return answer
  }

  #context(
    partition: Partition,
    position: EventPosition,
    time: number,
    reads: Reads,
    answered: (value: unknown) => void,
  ): FoldContext<Settings> {
    const { scan } = reads
    const scanned = scan === undefined ? [] : partition.rows.scan(scan.table, scan.index, scan.range)
    const declared = new Set([...reads.rows, ...(scan?.thenRows?.(scanned) ?? [])].map(rowId))
    const { rows } = partition
    const check = (table: Table<unknown>, key: string): void => {
      if (table.resident === true || declared.has(rowId({ table, key }))) return
      throw new Error(`row ${key} of ${table.name} is not declared`)
    }
    return {
      time,
      partition: partition.number,
      position,
      source: { source: 'test', offset: position.offset, index: 0 },
      epoch: this.epoch,
      settings: this.settings,
      actor: undefined,
      reason: undefined,
      scanned,
      get(table, key) {
        check(table, key)
        return rows.get(table, key)
      },
      put(table, key, row) {
        check(table, key)
        rows.put(table, key, row)
      },
      delete(table, key) {
        check(table, key)
        rows.put(table, key, undefined)
      },
      resident: (table) => rows.all(table),
      emit: (output, record, acknowledged) => {
        this.outputs.push({ ...record, topic: output.topic, partition: partition.number })
        if (acknowledged === undefined) return
        if (this.acknowledges) this.#sent.push({ partition: partition.number, event: acknowledged })
        else this.unacknowledged.push(acknowledged as Event)
      },
      send: (key, event) => void this.#sent.push({ partition: this.partitionOf(key), event }),
      broadcast: (event) => this.#partitions.forEach(({ number }) => this.#sent.push({ partition: number, event })),
      deadLetter: (problem) => void this.deadLetters.push({ position, ...problem, partition: partition.number }),
      arm: (due, id) => void partition.deadlines.set(deadlineKey({ due, id }), { due, id }),
      disarm: (due, id) => void partition.deadlines.delete(deadlineKey({ due, id })),
      answer: answered,
      request: (effect) => void partition.owed.set(effect.id, effect),
      askIntake: () => {
        const event = this.#processor.inputsTakenIn?.({ asOf: time, inputs: [] })
        if (event === undefined) return
        if (this.takesIn) this.#sent.push({ partition: partition.number, event })
        else this.notTakenIn.push(event)
      },
      withdraw: (effectId) => void partition.owed.delete(effectId),
      count: (counter, label = '') => {
        if (!(counter in this.#processor.counters)) throw new Error(`counter ${counter} is not declared`)
        this.counts.set(`${counter}/${label}`, this.count(counter, label) + 1)
      },
      because: (rule, compared = {}) => void this.rules.push({ rule, compared }),
    }
  }

  #reader({ number, rows, memory }: Partition): QueryReader<Settings> {
    return {
      partition: number,
      time: this.time,
      journalTime: this.time,
      memory,
      settings: this.settings,
      get: (table, key) => Promise.resolve(rows.get(table, key)),
      getMany: (table, keys) => Promise.resolve(keys.map((key) => rows.get(table, key))),
      resident: (table) => rows.all(table),
      residentRow: (table, key) => rows.get(table, key),
      rows: (table, range = {}) => onePage(within(rows.all(table), ([key]) => key, range)),
      index: (table, index, range = {}) => onePage(rows.scan(table, index, range)),
    }
  }
}

const byDue = (a: Deadline, b: Deadline): number => a.due - b.due || compareText(a.id, b.id)
const deadlineKey = ({ due, id }: Deadline): string => `${due}/${id}`
const rowId = ({ table, key }: { readonly table: Table<unknown>; readonly key: string }): string =>
  `${table.name}/${key}`

async function* onePage<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  yield await Promise.resolve(items)
}
