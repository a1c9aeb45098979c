import type { TopicPartition } from '../log/log.js'
import type { ArchiveLine, CodeLine, HeadLine, SegmentLine, TopicLine } from './lines.js'

/** What an archive holds, by its lines. */
export class Contents {
  #head: HeadLine | undefined
  readonly #topics = new Map<string, TopicLine>()
  readonly #code = new Map<string, CodeLine>()
  readonly #segments: SegmentLine[] = []
  readonly #byPartition = new Map<string, SegmentLine[]>()

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

  topic(name: string): TopicLine | undefined {
    return this.#topics.get(name)
  }

  /** What folded a domain last. */
  code(domain: string): CodeLine | undefined {
    return this.#code.get(domain)
  }

  /** In the order of offsets. */
  segmentsOf(partition: TopicPartition): readonly SegmentLine[] {
    return this.#byPartition.get(partitionName(partition)) ?? []
  }

  add(line: ArchiveLine): void {
    switch (line.kind) {
      case 'archive':
        this.#head = line
        break
      case 'topic':
        this.#topics.set(line.topic, line)
        break
      case 'code':
        this.#code.set(line.domain, line)
        break
      case 'segment': {
        this.#segments.push(line)
        const ofPartition = this.#byPartition.get(partitionName(line))
        if (ofPartition === undefined) this.#byPartition.set(partitionName(line), [line])
        else ofPartition.push(line)
        break
      }
    }
  }
}

function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
