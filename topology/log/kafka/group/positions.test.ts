import t from 'tap'
import { PositionCommits } from './positions.js'
import type { CommittedPosition } from './positions.js'

/** Requests that end when they are told to. */
function subject() {
  const requests: { readonly partitions: readonly number[]; end(error?: Error): Promise<void> }[] = []
  const commits = new PositionCommits(
    (positions) =>
      new Promise((resolve, reject) => {
        requests.push({
          partitions: positions.map(({ partition }) => partition),
          async end(error) {
            if (error === undefined) resolve()
            else reject(error)
            await new Promise((done) => setImmediate(done))
          },
        })
      }),
  )
  const outcomes: string[] = []
  const commit = (partition: number): void => {
    const position: CommittedPosition = { topic: 'input', partition, offset: 7, metadata: '' }
    void commits.commit(position).then(
      () => outcomes.push(`${partition} is committed`),
      (error: unknown) => outcomes.push(`${partition}: ${(error as Error).message}`),
    )
  }
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done))
  return { requests, outcomes, commit, turn }
}

t.test('what comes while a request is under way goes together with the next', async (t) => {
  const { requests, outcomes, commit, turn } = subject()
  commit(0)
  commit(1)
  await turn()
  for (const partition of [2, 3, 4]) commit(partition)
  await turn()
  t.same(
    requests.map(({ partitions }) => partitions),
    [[0, 1]],
  )
  await requests[0]?.end()
  t.same(
    requests.map(({ partitions }) => partitions),
    [
      [0, 1],
      [2, 3, 4],
    ],
  )
  t.same(outcomes, ['0 is committed', '1 is committed'])
  await requests[1]?.end()
  t.equal(outcomes.length, 5)
  commit(5)
  await turn()
  t.same(requests[2]?.partitions, [5], 'it sends again after a pause')
})

t.test('a refused position holds no other back: each is then sent alone', async (t) => {
  const { requests, outcomes, commit, turn } = subject()
  commit(0)
  commit(1)
  await turn()
  await requests[0]?.end(new Error('refused'))
  await requests[1]?.end(new Error('no such partition'))
  await requests[2]?.end()
  t.same(
    requests.map(({ partitions }) => partitions),
    [[0, 1], [0], [1]],
  )
  t.same(outcomes, ['0: no such partition', '1 is committed'])
})
