import { Kafka, logLevel } from 'kafkajs'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../../common/clock.js'
import type { Log } from '../log.js'
import { logContract } from '../log-contract.js'
import type { LogHarness } from '../log-contract.js'
import { openKafkaLog } from './kafka-log.js'
import { realBrokers } from './real-brokers.js'

const brokers = realBrokers(t)

function harness(): LogHarness {
  async function open(test: Test): Promise<Log> {
    const log = await openKafkaLog({
      brokers,
      clientId: 'contract',
      clock: systemClock,
      onFatal: (error) => test.fail(error.message),
    })
    test.teardown(() => log.close())
    return log
  }

  return {
    open,
    async reopen(test, log) {
      await log.close()
      return open(test)
    },
    async deleteBefore(_log, { topic, partition }, offset) {
      const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
      await admin.connect()
      try {
        // Makes kafkajs know the topic's leaders.
        await admin.fetchTopicOffsets(topic)
        await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
      } finally {
        await admin.disconnect()
      }
    },
    keepsHeaderOrder: true,
  }
}

if (brokers.length > 0) {
  t.test('the log contract on Kafka', { timeout: 200_000 }, (test) => logContract(test, harness()))
}
