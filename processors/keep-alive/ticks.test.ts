import t from 'tap'
import { E2T, E2T_2, KeepAliveKit, RAN } from './test-kit.js'

/** A kit with instances that answer at once, some ticks under way. */
function running(...addresses: readonly string[]): KeepAliveKit {
  const kit = new KeepAliveKit()
  for (const address of addresses) {
    kit.init(address)
    kit.answering.set(address, 10)
  }
  kit.run(3000)
  return kit
}

/** How long from now until the instance is killed, in steps of 10 ms. */
function killedAfter(kit: KeepAliveKit, address: string, withinMs = 5000): number {
  for (let passed = 10; passed <= withinMs; passed += 10) {
    kit.run(10, 10)
    if (kit.instance(address) === undefined) return passed
  }
  return Number.POSITIVE_INFINITY
}

t.test('a request is broadcast on every tick while there are instances, and to a new one at once', async (t) => {
  const kit = new KeepAliveKit()
  kit.run(2000)
  t.strictSame(kit.sent('e2t-keep-alive-requests'), [], 'no instance, no request')
  kit.init()
  t.strictSame(kit.sent('e2t-keep-alive-requests'), [`1101  ${E2T}`])
  kit.answering.set(E2T, 10)
  kit.run(2000)
  t.strictSame(kit.sent('e2t-keep-alive-requests'), ['1101', '1101', '1101', '1101'])
  t.equal(kit.outputs[0]?.value, '', 'of zero length')
  kit.answering.clear()
  kit.run(3000)
  t.equal(kit.instance(), undefined)
  kit.sent('e2t-keep-alive-requests')
  kit.run(2000)
  t.strictSame(kit.sent('e2t-keep-alive-requests'), [], 'and none without')
})

t.test(
  'a silent instance is killed between 1,500 and 2,100 ms after its last answer, whenever that came',
  async (t) => {
    for (const latencyMs of [0, 10, 100, 250, 400, 490]) {
      const kit = running(E2T, E2T_2)
      kit.answering.set(E2T, latencyMs)
      kit.run(2000, 10)
      kit.answering.delete(E2T)
      // An answer may be under way.
      kit.run(500, 10)
      const answeredAt = kit.instance()?.answeredAt ?? 0
      killedAfter(kit, E2T)
      const age = kit.time - answeredAt
      t.ok(age > 1500 && age <= 2100, `killed ${age} ms after its last answer, which took ${latencyMs} ms`)
      t.equal(kit.instance(E2T_2)?.state, 'ACTIVE')
    }
  },
)

t.test('an instance that answers late, but within the time-out, lives', async (t) => {
  const kit = running(E2T)
  kit.answering.set(E2T, 1400)
  kit.run(20_000)
  t.equal(kit.instance()?.state, 'ACTIVE')
})

t.test('one lost answer, or two, kill nobody', async (t) => {
  const kit = running(E2T)
  for (let round = 0; round < 10; round++) {
    kit.answering.delete(E2T)
    kit.run(900)
    kit.answering.set(E2T, 10)
    kit.run(600)
  }
  t.equal(kit.instance()?.state, 'ACTIVE')
})

t.test('HS-01 after a pause of the manager nobody is silent but who stays so', async (t) => {
  const kit = running(E2T, E2T_2)
  kit.setUp()
  // For three seconds nothing is folded; then the timer is late.
  kit.time += 3000
  kit.answering.delete(E2T_2)
  const killed = killedAfter(kit, E2T_2)
  t.ok(killed > 1500 && killed <= 3000, `${killed} ms after the pause: from the first request after it on`)
  t.equal(kit.count('fresh_starts', 'gap'), 1, 'the pause is counted')
  t.equal(kit.instance(E2T)?.state, 'ACTIVE')
  t.equal(kit.ran(RAN)?.state, 'CONNECTED')
})

t.test('HS-01 a claim of intake that was asked before the pause condemns nobody', async (t) => {
  const kit = running(E2T)
  kit.takesIn = false
  kit.answering.delete(E2T)
  kit.run(500)
  const asOf = kit.time
  kit.time += 3000
  kit.when('AACCE', { type: 'E2tMessagesTakenIn', data: { asOf, inputs: [] } })
  t.equal(kit.instance()?.state, 'ACTIVE')
})

t.test('HS-02 a new term counts from its own first request, whatever the rows say', async (t) => {
  const kit = running(E2T, E2T_2)
  kit.answering.delete(E2T_2)
  kit.run(1400)
  kit.time += 60_000
  kit.epoch++
  const killed = killedAfter(kit, E2T_2)
  t.ok(killed > 1500 && killed <= 3000, `${killed} ms after the start`)
  t.equal(kit.instance(E2T)?.state, 'ACTIVE')
  t.equal(kit.count('fresh_starts', 'term'), 2, 'the first term, and this one')
})

t.test('a request of a former term that is acknowledged late counts for nothing', async (t) => {
  const kit = running(E2T)
  const { sentTick = 0, requests } = kit.ric() ?? {}
  kit.epoch++
  kit.when('AACCE', {
    type: 'KeepAliveRequestSent',
    data: { ric: 'AACCE', tick: sentTick + 1, askedAt: kit.time, epoch: 1 },
  })
  t.strictSame(kit.ric()?.requests, requests)
  kit.epoch--
  kit.when('AACCE', {
    type: 'KeepAliveRequestSent',
    data: { ric: 'AACCE', tick: sentTick, askedAt: kit.time, epoch: 1 },
  })
  t.strictSame(kit.ric()?.requests, requests, 'nor does one that was acknowledged before')
})

t.test('before the first request of a term is sent nobody is silent', async (t) => {
  const kit = running(E2T)
  kit.takesIn = false
  kit.answering.clear()
  kit.run(3000)
  kit.epoch++
  kit.when('AACCE', { type: 'E2tMessagesTakenIn', data: { asOf: kit.time, inputs: [] } })
  t.equal(kit.instance()?.state, 'ACTIVE')
})

t.test('silence counts up to what is taken in, however late that is known', async (t) => {
  const kit = running(E2T)
  kit.answering.set(E2T, 470)
  kit.run(2000, 10)
  kit.answering.clear()
  kit.takesIn = false
  kit.run(4000, 10)
  const { answeredAt = 0 } = kit.instance() ?? {}
  const takenIn = (asOf: number): void =>
    void kit.when('AACCE', { type: 'E2tMessagesTakenIn', data: { asOf, inputs: [] } })
  takenIn(answeredAt + 1500)
  t.equal(kit.instance()?.state, 'ACTIVE')
  takenIn(answeredAt + 1501)
  t.equal(kit.instance()?.state, 'TO_BE_DELETED')
})

t.test('a request that was answered before its acknowledgement was known does not count as unanswered', async (t) => {
  const kit = running(E2T)
  kit.acknowledges = false
  kit.run(500)
  const late = kit.unacknowledged.splice(0)
  const { answeredAt = 0 } = kit.instance() ?? {}
  kit.answering.clear()
  kit.time += 400
  for (const event of late) kit.when('AACCE', event)
  kit.acknowledges = true
  t.ok((kit.ric()?.requests.at(-1)?.askedAt ?? Infinity) < answeredAt)
})

t.test('silence counts only over requests that were really sent', async (t) => {
  const kit = running(E2T)
  kit.answering.delete(E2T)
  kit.acknowledges = false
  kit.run(20_000)
  t.equal(kit.instance()?.state, 'ACTIVE', 'the log takes no requests')
  kit.acknowledges = true
  t.ok(killedAfter(kit, E2T) > 1500)
})

t.test('a dead or lagging ingest makes nobody silent', async (t) => {
  const kit = running(E2T, E2T_2)
  kit.takesIn = false
  kit.answering.clear()
  kit.run(20_000)
  t.equal(kit.instance(E2T)?.state, 'ACTIVE')
  // The answers that lay there come in, and only then is it known that they have.
  kit.answering.set(E2T, 10)
  kit.answer(E2T)
  kit.takesIn = true
  killedAfter(kit, E2T_2)
  t.equal(kit.instance(E2T_2), undefined, 'it had not answered')
  t.equal(kit.instance(E2T)?.state, 'ACTIVE')
})

t.test('an answer in the same millisecond as the scan is decided by the order of the journal', async (t) => {
  for (const isFirst of [true, false]) {
    const kit = running(E2T)
    kit.takesIn = false
    kit.answering.delete(E2T)
    kit.run(2500)
    const data = { asOf: kit.time, inputs: [] }
    const events = [
      { type: 'KeepAliveAnswered', data: { ric: 'AACCE', address: E2T } } as const,
      { type: 'E2tMessagesTakenIn', data } as const,
    ]
    for (const event of isFirst ? events : events.reverse()) kit.append('AACCE', event)
    t.equal(kit.instance()?.state, isFirst ? 'ACTIVE' : 'TO_BE_DELETED')
    t.equal(kit.count('late_answers'), isFirst ? 0 : 1)
  }
})

t.test('HS-22 answers of unknown addresses make no instance known, and are counted', async (t) => {
  const kit = running(E2T)
  const answers = kit.count('answers')
  for (const address of ['10.0.0.99:38000', E2T_2, 'E2T-1.EXAMPLE:38000']) kit.answer(address)
  t.equal(kit.count('unknown_answers'), 3)
  t.equal(kit.count('answers'), answers)
  t.strictSame(await kit.list(), [`${E2T} `])
  t.strictSame(kit.sent('e2t-commands'), [])
})

t.test('an unknown instance that answers is asked for its init, where that is wanted', async (t) => {
  const kit = new KeepAliveKit({ askForInit: true })
  kit.answer(E2T)
  t.strictSame(kit.sent('e2t-commands'), [E2T], 'SEND_INIT has no number')
  t.equal(kit.outputs.at(-1)?.headers.find(([name]) => name === 'ce_type')?.[1], 'org.oran.e2.SEND_INIT')
})

t.test('times of the profile upstream: killed between 4,500 and 6,300 ms after the last answer', async (t) => {
  const kit = new KeepAliveKit({ keepAliveDelayMs: 1500, keepAliveResponseTimeoutMs: 4500 })
  kit.init()
  kit.answering.set(E2T, 10)
  kit.run(6000)
  const answeredAt = kit.instance()?.answeredAt ?? 0
  kit.answering.clear()
  killedAfter(kit, E2T, 10_000)
  const age = kit.time - answeredAt
  t.ok(age > 4500 && age <= 6300, `${age} ms`)
})
