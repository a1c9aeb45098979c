import type { Test } from 'tap'

/**
 * The brokers that tests against a real cluster use; none: then the test file says how to have some and is skipped, which
 * in CI is a failure.
 */
export function realBrokers(t: Test): readonly string[] {
  const { PULSEFOLD_KAFKA_BROKERS: brokers = '', CI: ci = '' } = process.env
  if (brokers !== '') return brokers.split(',')
  const howTo = 'no broker: start one with `./scripts/services start` and export what it prints'
  if (ci === '' || ci === 'false') t.pass(howTo, { skip: howTo })
  else t.fail(howTo)
  return []
}
