import type { Command } from 'commander'
import { systemClock } from '../../common/clock.js'
import { loadSettings } from '../../common/settings.js'
import { projectDirectory } from '../project-directory.js'
import type { ResetPlan } from '../reset/plan.js'

/** Adds `reset`: the state is made anew from the journals at the next start. */
export function registerReset(program: Command): void {
  program
    .command('reset')
    .description(
      'delete stores and changelogs, on Kafka the group positions too, so that the next start makes the state anew from the journals and tells its outputs again; takes the flags of `start`',
    )
    .option('--dry-run', 'only say what would be deleted', false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async ({ dryRun }: { readonly dryRun: boolean }, command: Command) => {
      const { settings } = loadSettings({ flags: command.args, environment: process.env, projectDirectory })
      // Kafka's client comes with it: other commands begin sooner without.
      const { reset } = await import('../reset/reset.js')
      const plan = await reset(settings, systemClock, dryRun)
      const isOnKafka = settings.kafkaBrokers.length > 0
      for (const line of lines(plan, dryRun ? 'would be deleted' : 'deleted', isOnKafka && settings.applicationId)) {
        console.log(line)
      }
    })
}

function lines({ stores, changelogs, journalRecords }: ResetPlan, done: string, group: string | false): string[] {
  return [
    ...stores.map((store) => `store ${store}: ${done}`),
    ...changelogs.map(({ topic, records }) => `changelog ${topic}, ${records} records: ${done}`),
    ...(group === false ? [] : [`positions of group ${group}: ${done}`]),
    `the next start folds ${journalRecords} journal records`,
  ]
}
