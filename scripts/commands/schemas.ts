import type { Command } from 'commander'
import { loadSettings, SettingsError } from '../../common/settings.js'
import type { Registrar, SchemaStanding, TopicSchema } from '../../schemas/registry/registrar.js'
import { auditedProcessors } from '../audit/audited-processors.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { projectDirectory } from '../project-directory.js'
import { topicSchemas } from './topic-schemas.js'

/** Adds `schemas`: what the registry has of our topics' schemas, and the way to bring it up to date. */
export function registerSchemas(program: Command): void {
  const schemas = program
    .command('schemas')
    .description('the schemas of all topics and the schema registry; takes the flags of `start`')
  const add = (name: string, description: string, work: Work): void => {
    schemas
      .command(name)
      .description(description)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(async (_options: unknown, command: Command) => {
        const { settings } = loadSettings({ flags: command.args, environment: process.env, projectDirectory })
        const { schemaRegistryUrl: url, applicationId } = settings
        if (url === '')
          throw new SettingsError([{ path: 'schemaRegistryUrl', value: '""', expected: 'the address of a registry' }])
        const hasPeerSite = settings.sitePeerUrl !== ''
        const processors = hasPeerSite ? auditedProcessors(settings) : declaredProcessors(settings)
        const all = topicSchemas(processors, applicationId)
        // Loaded only here: other commands begin sooner without it.
        const { registrar } = await import('../../schemas/registry/registrar.js')
        if (!(await work(registrar(url), all, console.log))) process.exitCode = 1
      })
  }
  add('check', 'compare them with those registered; exit code 1 when one cannot read what is written', checkAll)
  add('register', 'register those that are new or have changed; none, when one is not compatible', registerAll)
}

/** Answers whether all is well. */
type Work = (registry: Registrar, all: readonly TopicSchema[], print: (line: string) => void) => Promise<boolean>

const checkAll: Work = async (registry, all, print) => {
  const standings = await Promise.all(all.map((of) => registry.check(of)))
  for (const [i, of] of all.entries()) print(`${nameOf(of)}: ${inWords(of, standings[i] as SchemaStanding)}`)
  return standings.every(({ kind }) => kind !== 'incompatible')
}

const registerAll: Work = async (registry, all, print) => {
  if (!(await checkAll(registry, all, () => undefined))) return checkAll(registry, all, print)
  for (const of of all) {
    const { kind } = await registry.check(of)
    print(`${nameOf(of)}: ${kind === 'same' ? 'is registered' : `registered as id ${await registry.register(of)}`}`)
  }
  return true
}

const nameOf = ({ subject, format }: TopicSchema): string => `${subject} (${format === 'JSON' ? 'JSON' : 'Avro'})`

function inWords({ format, direction }: TopicSchema, standing: SchemaStanding): string {
  switch (standing.kind) {
    case 'new':
      return 'not registered yet'
    case 'same':
      return `the same as version ${standing.version}`
    case 'compatible':
      return `compatible with version ${standing.version}`
    case 'incompatible':
      return format === 'JSON' && direction === 'written'
        ? `cannot be read by those who know version ${standing.version}: ${standing.reason}`
        : `cannot read what version ${standing.version} has written: ${standing.reason}`
  }
}
