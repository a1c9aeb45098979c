import { names } from './names.js'
import type { Processor } from './processor.js'

/** What the processors make of topics, as data. The names are Kafka Streams' TopologyDescription's. */
export interface TopologyDescription {
  readonly applicationId: string
  readonly subtopologies: readonly Subtopology[]
}

/** Nodes that hand records to each other without a topic between them. */
export interface Subtopology {
  readonly id: number
  readonly domain: string
  readonly nodes: readonly TopologyNode[]
}

export type TopologyNode = SourceNode | ProcessorNode | SinkNode

export interface SourceNode {
  readonly type: 'source'
  readonly name: string
  readonly topics: readonly string[]
  readonly successors: readonly string[]
}

export interface ProcessorNode {
  readonly type: 'processor'
  readonly name: string
  readonly stores: readonly { readonly name: string; readonly changelog: string; readonly tables: readonly string[] }[]
  readonly successors: readonly string[]
  readonly predecessors: readonly string[]
}

export interface SinkNode {
  readonly type: 'sink'
  readonly name: string
  readonly topic: string
  readonly predecessors: readonly string[]
}

/**
 * The topology that follows from the processors: for each a sub-topology that takes its inputs into its journal (none
 * without inputs), and one that folds the journal into the store, the outputs, the dead letters and, for what folds send
 * on, timers and results of effects, the journal again.
 */
export function describeJson(processors: readonly Processor[], applicationId: string): TopologyDescription {
  const subtopologies = processors.flatMap((processor) => {
    const domain = processor.name
    const ingest = ingestNodes(processor, applicationId)
    const fold = foldNodes(processor, applicationId)
    return [...(ingest === undefined ? [] : [{ domain, nodes: ingest }]), { domain, nodes: fold }]
  })
  return { applicationId, subtopologies: subtopologies.map((subtopology, id) => ({ id, ...subtopology })) }
}

/** The same in the text format of Kafka Streams' `Topology#describe()`, so that its viewers draw it. */
export function describeText(processors: readonly Processor[], applicationId: string): string {
  const { subtopologies } = describeJson(processors, applicationId)
  const texts = subtopologies.map(({ id, nodes }) => {
    return `  Sub-topology: ${id}\n${nodes.map((node) => `    ${nodeText(node)}\n`).join('')}\n`
  })
  return `Topologies:\n ${texts.join('')}`
}

/** The same as a Mermaid flowchart: topics and the processors between them, stores with their changelogs. */
export function describeMermaid(processors: readonly Processor[], applicationId: string): string {
  const { subtopologies } = describeJson(processors, applicationId)
  const topics = new Map<string, string>()
  const topicId = (topic: string): string => {
    const known = topics.get(topic) ?? `topic${topics.size}`
    topics.set(topic, known)
    return known
  }
  const groups: string[] = []
  const edges: string[] = []
  for (const { id, domain, nodes } of subtopologies) {
    groups.push(`  subgraph sub${id}[${label(`Sub-topology ${id}: ${domain}`)}]`)
    for (const node of nodes.filter((candidate) => candidate.type === 'processor')) {
      const own = `processor${id}`
      groups.push(`    ${own}[${label(node.name)}]`)
      for (const source of nodes.filter((candidate) => candidate.type === 'source')) {
        edges.push(...source.topics.map((topic) => `  ${topicId(topic)} --> ${own}`))
      }
      for (const sink of nodes.filter((candidate) => candidate.type === 'sink')) {
        edges.push(`  ${own} --> ${topicId(sink.topic)}`)
      }
      for (const [i, { name, changelog }] of node.stores.entries()) {
        groups.push(`    store${id}_${i}[(${label(name)})]`)
        edges.push(`  ${own} <--> store${id}_${i}`, `  store${id}_${i} --> ${topicId(changelog)}`)
      }
    }
    groups.push('  end')
  }
  const declared = [...topics].map(([topic, id]) => `  ${id}([${label(topic)}])`)
  return ['flowchart LR', ...declared, ...groups, ...edges, ''].join('\n')
}

function ingestNodes({ name, inputs }: Processor, applicationId: string): readonly TopologyNode[] | undefined {
  if (inputs.length === 0) return undefined
  const sinks = {
    [`${name}-ingest-journal`]: names.journal(applicationId, name),
    [`${name}-ingest-dead-letters`]: names.deadLetters(applicationId),
  }
  const topics = inputs.map((input) => input.topic)
  return chain(`${name}-inputs`, topics, { name: `${name}-ingest`, stores: [] }, sinks)
}

function foldNodes(processor: Processor, applicationId: string): readonly TopologyNode[] {
  const { name, store, tables, outputs } = processor
  const journal = names.journal(applicationId, name)
  const sinks = {
    ...Object.fromEntries(outputs.map(({ topic }) => [`${name}-output-${topic}`, topic])),
    [`${name}-fold-dead-letters`]: names.deadLetters(applicationId),
    [`${name}-fold-journal`]: journal,
  }
  const changelog = names.changelog(applicationId, store)
  const stores = [{ name: store, changelog, tables: tables.map((table) => table.name) }]
  return chain(`${name}-journal`, [journal], { name: `${name}-fold`, stores }, sinks)
}

/** One source, one processor, and its sinks. */
function chain(
  source: string,
  topics: readonly string[],
  processor: Pick<ProcessorNode, 'name' | 'stores'>,
  sinks: Readonly<Record<string, string>>,
): readonly TopologyNode[] {
  return [
    { type: 'source', name: source, topics, successors: [processor.name] },
    { type: 'processor', ...processor, successors: Object.keys(sinks), predecessors: [source] },
    ...Object.entries(sinks).map(([name, topic]): SinkNode => ({
      type: 'sink',
      name,
      topic,
      predecessors: [processor.name],
    })),
  ]
}

function nodeText(node: TopologyNode): string {
  switch (node.type) {
    case 'source':
      return `Source: ${node.name} (topics: [${node.topics.join(', ')}])${arrow('-->', node.successors)}`
    case 'processor': {
      const stores = node.stores.map((store) => store.name).join(', ')
      return `Processor: ${node.name} (stores: [${stores}])${arrow('-->', node.successors)}${arrow('<--', node.predecessors)}`
    }
    case 'sink':
      return `Sink: ${node.name} (topic: ${node.topic})${arrow('<--', node.predecessors)}`
  }
}

function arrow(direction: '-->' | '<--', nodes: readonly string[]): string {
  return `\n      ${direction} ${nodes.length === 0 ? 'none' : nodes.join(', ')}`
}

function label(text: string): string {
  return `"${text.replaceAll('"', '#quot;')}"`
}
