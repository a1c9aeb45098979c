import { readFileSync } from 'node:fs'
import { cut, ensureError } from '../../common/errors.js'
import { expectedOf } from '../../common/settings-faults.js'
import { SettingsError } from '../../common/settings.js'
import type { SettingName, Settings } from '../../common/settings.js'
import type { KafkaLogOptions } from '../../topology/log/kafka/kafka-log.js'

/** How the brokers are talked to: TLS and credentials. Errors: SETTINGS_INVALID, naming the file that cannot be read. */
export function kafkaSecurity(settings: Settings): Pick<KafkaLogOptions, 'ssl' | 'sasl'> {
  const { kafkaTls, kafkaSaslMechanism: mechanism, kafkaUsername: username, kafkaPassword: password } = settings
  const ca = pem(settings, 'kafkaTlsCaFile')
  const cert = pem(settings, 'kafkaTlsCertFile')
  const key = pem(settings, 'kafkaTlsKeyFile')
  return {
    ...(kafkaTls && {
      ssl: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
    }),
    ...(mechanism !== 'none' && { sasl: saslOf(mechanism, username, password) }),
  }
}

// kafkajs's type has an alternative for each mechanism.
function saslOf(
  mechanism: Exclude<Settings['kafkaSaslMechanism'], 'none'>,
  username: string,
  password: string,
): NonNullable<KafkaLogOptions['sasl']> {
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password }
    case 'scram-sha-256':
      return { mechanism, username, password }
    case 'scram-sha-512':
      return { mechanism, username, password }
  }
}

function pem(settings: Settings, name: SettingName & `kafkaTls${string}File`): Buffer | undefined {
  const path = settings[name]
  if (path === '') return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    const expected = `${expectedOf(name)} (${cut(ensureError(error).message, 200)})`
    throw new SettingsError([{ path: name, value: cut(path), expected }])
  }
}
