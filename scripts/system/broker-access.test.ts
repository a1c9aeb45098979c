import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { onKafka, PLUGIN, temporaryFolder } from './fixtures.js'
import { freePort } from '../free-port.js'
import { ownBroker } from './own-broker.js'
import { spawnPulsefold } from './real-process.js'

t.test(
  'SASL and TLS settings reach the brokers, and secrets stay out of log and output',
  { timeout: 200_000 },
  async (t) => {
    const securePort = await freePort()
    const keytool = (...args: readonly string[]): void => {
      execFileSync('keytool', [...args, '-storepass', 'changeit', '-noprompt'], { stdio: 'ignore' })
    }
    const broker = await ownBroker(t, {
      format: ['--add-scram', 'SCRAM-SHA-512=[name=pulse,password=hush-512]'],
      properties(folder) {
        const keystore = join(folder, 'broker.p12')
        const certificate = ['-alias', 'broker', '-keystore', keystore]
        const names = ['-dname', 'CN=localhost', '-ext', 'san=ip:127.0.0.1,dns:localhost']
        keytool('-genkeypair', ...certificate, ...names, '-keyalg', 'EC', '-storetype', 'PKCS12', '-validity', '2')
        keytool('-exportcert', '-rfc', ...certificate, '-file', join(folder, 'ca.pem'))
        const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_pulse="hush-plain";'
        const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'
        return [
          `ssl.keystore.location=${keystore}`,
          'ssl.keystore.type=PKCS12',
          'ssl.keystore.password=changeit',
          'ssl.key.password=changeit',
          'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512',
          `listener.name.sasl_ssl.plain.sasl.jaas.config=${plain}`,
          `listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=${scram}`,
        ].join('\n')
      },
      securePort,
    })
    if (broker === undefined) return
    const plainly = await onKafka(t, [`127.0.0.1:${broker.port}`])
    const secured = {
      ...plainly,
      kafkaBrokers: [`127.0.0.1:${securePort}`],
      kafkaTls: true,
      kafkaTlsCaFile: join(broker.folder, 'ca.pem'),
      kafkaUsername: 'pulse',
    }
    for (const [kafkaSaslMechanism, kafkaPassword] of [
      ['plain', 'hush-plain'],
      ['scram-sha-512', 'hush-512'],
    ] as const) {
      const values = { ...secured, kafkaSaslMechanism, kafkaPassword }
      const running = spawnPulsefold(t, temporaryFolder(t), { values })
      await running.ready
      await running.registration({ dmiPlugin: PLUGIN, createdCmHandles: [{ cmHandle: kafkaSaslMechanism }] })
      t.equal(await running.level(kafkaSaslMechanism), 'COMPLETE')
      running.kill('SIGTERM')
      const { code, log, out } = await running.ended
      t.equal(code, 0)
      t.notMatch([...log, out].join('\n'), kafkaPassword)
    }

    const wrong = { ...secured, kafkaSaslMechanism: 'plain', kafkaPassword: 'hush-wrong' } as const
    const refused = await spawnPulsefold(t, temporaryFolder(t), { values: wrong }).ended
    t.equal(refused.code, 70)
    t.match(refused.last, { level: 'fatal', msg: 'cannot start', err: { code: 'ACCESS_DENIED' } })
    t.match(refused.out, 'Check kafkaSaslMechanism, kafkaUsername and kafkaPassword')
    t.notMatch([...refused.log, refused.out].join('\n'), 'hush-wrong')
    const missing = await spawnPulsefold(t, temporaryFolder(t), {
      values: { ...secured, kafkaSaslMechanism: 'plain', kafkaPassword: 'x', kafkaTlsCaFile: '/nowhere/ca.pem' },
    }).ended
    t.equal(missing.code, 78)
    t.match(missing.out, 'kafkaTlsCaFile is "/nowhere/ca.pem", expected: the path of a PEM file')
  },
)
