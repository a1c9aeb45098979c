import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../free-port.js'
import { projectDirectory } from '../project-directory.js'
import { temporaryFolder } from './fixtures.js'

/** A broker that a test may stop, kill and start again; it ends with the test. */
export interface OwnBroker {
  readonly port: number
  readonly folder: string
  start(): Promise<void>
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export interface OwnBrokerOptions {
  /** A second listener, for SASL over TLS. */
  readonly securePort?: number
  /** Further lines of server.properties. */
  readonly properties?: (folder: string) => string
  /** Further arguments of the format tool. */
  readonly format?: readonly string[]
}

/** Where `./scripts/services` keeps the broker's files; undefined: it has not fetched them. */
function brokerFiles(): string | undefined {
  const directory = process.env['PULSEFOLD_SERVICES_DIR'] ?? join(tmpdir(), 'pulsefold-services')
  const files = join(directory, 'kafka-files')
  return existsSync(files) ? files : undefined
}

/** Undefined, with a line that says how to have one, where the broker's files are not at hand; in CI that is a failure. */
export async function ownBroker(t: Test, options: OwnBrokerOptions = {}): Promise<OwnBroker | undefined> {
  const files = brokerFiles()
  if (files === undefined) {
    const howTo = 'no files of a broker: fetch them with `./scripts/services start`'
    const isCi = !['', 'false', undefined].includes(process.env['CI'])
    if (isCi) t.fail(howTo)
    else t.pass(howTo, { skip: howTo })
    return undefined
  }
  const folder = temporaryFolder(t)
  const [port, controllerPort] = [await freePort(), await freePort()]
  const sources = join(projectDirectory, 'scripts', 'real-services')
  const template = readFileSync(join(sources, 'server.properties'), 'utf8')
  const properties = join(folder, 'server.properties')
  const { securePort } = options
  const secured =
    securePort === undefined
      ? template
      : template
          .replace(/^(listeners=.*)$/m, `$1,SASL_SSL://127.0.0.1:${securePort}`)
          .replace(/^(advertised.listeners=.*)$/m, `$1,SASL_SSL://127.0.0.1:${securePort}`)
          .replace(/^(listener.security.protocol.map=.*)$/m, '$1,SASL_SSL:SASL_SSL')
  const filled = secured
    .replaceAll('@PORT@', String(port))
    .replaceAll('@CONTROLLER_PORT@', String(controllerPort))
    .replaceAll('@DATA@', join(folder, 'kafka-data'))
  writeFileSync(properties, `${filled}\n${options.properties?.(folder) ?? ''}`)
  const java = ['-Xmx256m', '-XX:+UseSerialGC', `-Dlog4j2.configurationFile=${join(sources, 'log4j2.properties')}`]
  java.push('-cp', join(files, '*'))
  const format = ['format', '--config', properties, '--cluster-id', 'AAAAAAAAAAAAAAAAAAAAAA', ...(options.format ?? [])]
  execFileSync('java', [...java, 'kafka.tools.StorageTool', ...format], { stdio: 'ignore' })

  let child: ChildProcess | undefined
  const stop = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const stopping = child
    child = undefined
    if (stopping === undefined) return
    stopping.kill(signal)
    await once(stopping, 'exit')
  }
  const start = async (): Promise<void> => {
    const started = spawn('java', [...java, 'kafka.Kafka', properties], { stdio: ['ignore', 'pipe', 'inherit'] })
    child = started
    let output = ''
    await new Promise<void>((resolve, reject) => {
      started.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.includes('Kafka Server started')) resolve()
      })
      started.once('exit', () => reject(new Error(`the broker ended: ${output.slice(-2000)}`)))
    })
  }
  t.teardown(() => stop('SIGKILL'))
  await start()
  return { port, folder, start, stop }
}
