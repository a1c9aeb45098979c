import type { Command } from 'commander'
import { askInstance, urlOption } from './operator.js'
import type { OperatorFlags } from './operator.js'
import { platformLines } from './platform-table.js'
import type { ShownPlatform } from './platform-table.js'

const PAGE = 1000

/** Adds `platforms`: external platforms with the states of their addresses, as tables. */
export function registerPlatforms(program: Command): void {
  program
    .command('platforms')
    .description('external platforms: parameters, and each address with its state, counts and next retry')
    .argument('[name]', 'one platform only')
    .option(...urlOption)
    .action(async (name: string | undefined, flags: OperatorFlags) => {
      if (name === undefined) {
        for await (const platform of allPlatforms(flags)) print(platform)
      } else {
        print(await askInstance<ShownPlatform>(flags, `/external-platforms/${encodeURIComponent(name)}`))
      }
    })
}

async function* allPlatforms(flags: OperatorFlags): AsyncGenerator<ShownPlatform> {
  let query = new URLSearchParams({ limit: String(PAGE) })
  for (;;) {
    const page = await askInstance<readonly ShownPlatform[]>(flags, `/external-platforms?${query.toString()}`)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    query = new URLSearchParams({ limit: String(PAGE), after: last.name })
  }
}

function print(platform: ShownPlatform): void {
  console.log(platformLines(platform).join('\n'))
}
