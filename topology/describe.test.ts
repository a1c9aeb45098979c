import t from 'tap'
import { countingProcessor, countOutput } from './counting-processor.js'
import { describeJson, describeMermaid, describeText } from './describe.js'
import type { Processor } from './processor.js'

const counting: Processor = { ...(countingProcessor as Processor), outputs: [countOutput] }
const [input] = countingProcessor.inputs
const second: Processor = {
  ...counting,
  name: 'other',
  store: 'others',
  inputs: [],
  outputs: [],
}
const twoInputs: Processor = {
  ...counting,
  inputs: [input!, { ...input!, topic: 'count-me-too' }],
}

t.test("the text has Kafka Streams' format, to the blank", async (t) => {
  t.equal(
    describeText([twoInputs, second], 'app'),
    `Topologies:
   Sub-topology: 0
    Source: counting-inputs (topics: [count-me, count-me-too])
      --> counting-ingest
    Processor: counting-ingest (stores: [])
      --> counting-ingest-journal, counting-ingest-dead-letters
      <-- counting-inputs
    Sink: counting-ingest-journal (topic: app-counting-journal)
      <-- counting-ingest
    Sink: counting-ingest-dead-letters (topic: app-dead-letters)
      <-- counting-ingest

  Sub-topology: 1
    Source: counting-journal (topics: [app-counting-journal])
      --> counting-fold
    Processor: counting-fold (stores: [counts])
      --> counting-output-count-changes, counting-fold-dead-letters, counting-fold-journal
      <-- counting-journal
    Sink: counting-output-count-changes (topic: count-changes)
      <-- counting-fold
    Sink: counting-fold-dead-letters (topic: app-dead-letters)
      <-- counting-fold
    Sink: counting-fold-journal (topic: app-counting-journal)
      <-- counting-fold

  Sub-topology: 2
    Source: other-journal (topics: [app-other-journal])
      --> other-fold
    Processor: other-fold (stores: [others])
      --> other-fold-dead-letters, other-fold-journal
      <-- other-journal
    Sink: other-fold-dead-letters (topic: app-dead-letters)
      <-- other-fold
    Sink: other-fold-journal (topic: app-other-journal)
      <-- other-fold

`,
  )
})

t.test('every node named by another one is there, and they name each other', async (t) => {
  for (const { nodes } of describeJson([twoInputs, second], 'app').subtopologies) {
    const edges = nodes.flatMap((node) =>
      node.type === 'sink' ? [] : node.successors.map((successor) => `${node.name} ${successor}`),
    )
    const reverse = nodes.flatMap((node) =>
      node.type === 'source' ? [] : node.predecessors.map((predecessor) => `${predecessor} ${node.name}`),
    )
    t.same(edges.sort(), reverse.sort())
    const known = new Set(nodes.map((node) => node.name))
    for (const edge of edges) t.ok(known.has(edge.split(' ')[1] ?? ''))
  }
})

t.test('the JSON names store, changelog and tables', async (t) => {
  const { subtopologies } = describeJson([countingProcessor], 'app')
  const stores = subtopologies.flatMap(({ nodes }) => nodes).flatMap((n) => (n.type === 'processor' ? n.stores : []))
  t.same(stores, [{ name: 'counts', changelog: 'app-counts-changelog', tables: ['counts', 'totals'] }])
})

t.test('the Mermaid chart declares each topic once and draws the way from input to output', async (t) => {
  t.equal(
    describeMermaid([counting], 'my "app"'),
    `flowchart LR
  topic0(["count-me"])
  topic1(["my #quot;app#quot;-counting-journal"])
  topic2(["my #quot;app#quot;-dead-letters"])
  topic3(["count-changes"])
  topic4(["my #quot;app#quot;-counts-changelog"])
  subgraph sub0["Sub-topology 0: counting"]
    processor0["counting-ingest"]
  end
  subgraph sub1["Sub-topology 1: counting"]
    processor1["counting-fold"]
    store1_0[("counts")]
  end
  topic0 --> processor0
  processor0 --> topic1
  processor0 --> topic2
  topic1 --> processor1
  processor1 --> topic3
  processor1 --> topic2
  processor1 --> topic1
  processor1 <--> store1_0
  store1_0 --> topic4
`,
  )
})
