import type { TopicPartition } from '../log/log.js'
import { ArchiveError } from './errors.js'
import { ARCHIVE_FORMAT } from './lines.js'
import type { ArchiveLine, CodeLine, HeadLine, MergedKeysLine, SegmentLine, TopicLine } from './lines.js'

/** What an archive holds, by its lines. Errors: ARCHIVE_UNREADABLE when another build has laid it out otherwise. */
export class Contents {
  #head: HeadLine | undefined
  readonly #topics = new Map<string, TopicLine>()
  readonly #code = new Map<string, CodeLine>()
  readonly #segments: SegmentLine[] = []
  readonly #mergedKeys: MergedKeysLine[] = []
  readonly #byPartition = new Map<string, { segments: SegmentLine[]; mergedKeys: MergedKeysLine[] }>()

  constructor(lines: readonly ArchiveLine[]) {
    for (const line of lines) this.add(line)
  }

  get head(): HeadLine | undefined {
    return this.#head
  }
  /** In the order in which they were written. */
  get segments(): readonly SegmentLine[] {
    return this.#segments
  }

  get mergedKeys(): readonly MergedKeysLine[] {
    return this.#mergedKeys
  }

  topic(name: string): TopicLine | undefined {
    return this.#topics.get(name)
  }

  /** What folded a domain last. */
  code(domain: string): CodeLine | undefined {
    return this.#code.get(domain)
  }

  /** In the order of offsets. */
  segmentsOf(partition: TopicPartition): readonly SegmentLine[] {
    return this.#byPartition.get(partitionName(partition))?.segments ?? []
  }

  /** In the order of offsets; they lack at most the newest segments. */
  mergedKeysOf(partition: TopicPartition): readonly MergedKeysLine[] {
    return this.#byPartition.get(partitionName(partition))?.mergedKeys ?? []
  }

  add(line: ArchiveLine): void {
    switch (line.kind) {
      case 'archive':
        if (line.format !== ARCHIVE_FORMAT) {
          const message = `the archive is of format ${line.format}, and this build reads ${ARCHIVE_FORMAT}`
          throw new ArchiveError('ARCHIVE_UNREADABLE', message)
        }
        this.#head = line
        break
      case 'topic':
        this.#topics.set(line.topic, line)
        break
      case 'code':
        this.#code.set(line.domain, line)
        break
      case 'segment':
        this.#segments.push(line)
        this.#of(line).segments.push(line)
        break
      case 'mergedKeys':
        this.#mergedKeys.push(line)
        this.#of(line).mergedKeys.push(line)
        break
    }
  }

  #of(partition: TopicPartition): { readonly segments: SegmentLine[]; readonly mergedKeys: MergedKeysLine[] } {
    const name = partitionName(partition)
    const known = this.#byPartition.get(name) ?? { segments: [], mergedKeys: [] }
    this.#byPartition.set(name, known)
    return known
  }
}

function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
