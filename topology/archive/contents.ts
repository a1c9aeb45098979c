import type { TopicPartition } from '../log/log.js'
import type { ArchiveLine, CodeLine, HeadLine, SegmentLine, TopicLine } from './lines.js'

/** What an archive holds, by its lines. */
export interface Contents {
  readonly head: HeadLine | undefined
  readonly topics: ReadonlyMap<string, TopicLine>
  readonly code: readonly CodeLine[]
  /** In the order of offsets. */
  segmentsOf(partition: TopicPartition): readonly SegmentLine[]
  readonly segments: readonly SegmentLine[]
}

export function contentsOf(lines: readonly ArchiveLine[]): Contents {
  const topics = new Map<string, TopicLine>()
  const code: CodeLine[] = []
  const segments: SegmentLine[] = []
  const byPartition = new Map<string, SegmentLine[]>()
  let head: HeadLine | undefined
  for (const line of lines) {
    switch (line.kind) {
      case 'archive':
        head = line
        break
      case 'topic':
        topics.set(line.topic, line)
        break
      case 'code':
        code.push(line)
        break
      case 'segment': {
        const name = partitionName(line)
        const ofPartition = byPartition.get(name)
        if (ofPartition === undefined) byPartition.set(name, [line])
        else ofPartition.push(line)
        segments.push(line)
        break
      }
    }
  }
  return { head, topics, code, segments, segmentsOf: (partition) => byPartition.get(partitionName(partition)) ?? [] }
}

function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
