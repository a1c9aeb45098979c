import { Argument, Command } from 'commander'
import { kafkaRows, rowNames } from './benchmarks/row-names.js'
import type { RowName } from './benchmarks/row-names.js'
import { runRow } from './benchmarks/run-row.js'
import type { RowResult } from './benchmarks/run-row.js'
import { tableOf } from './benchmarks/table.js'
import { numberFrom } from './simulate/command-line.js'

/** Runs the rows asked for, one after another, and prints their figures; status 1 when a row could not be measured. */
async function main(names: readonly RowName[], asJson: boolean, limitMinutes: number): Promise<void> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const results: RowResult[] = []
  const hasBrokers = (process.env['PULSEFOLD_KAFKA_BROKERS'] ?? '') !== ''
  const usual = rowNames.filter((name) => hasBrokers || !kafkaRows.has(name))
  for (const name of names.length > 0 ? names : usual) {
    if (interrupted.signal.aborted) break
    process.stderr.write(`pulsefold: measuring ${name}\n`)
    results.push(await runRow(name, limitMinutes, interrupted.signal))
  }
  console.log(asJson ? JSON.stringify(results, null, 2) : tableOf(results))
  process.exitCode = results.some(({ failure }) => failure !== null) ? 1 : 0
}

await new Command('bench')
  .description('Measure what Pulsefold must reach. Each row runs alone, in a process and a directory of its own.')
  .addArgument(new Argument('[row...]', 'rows to measure; all when none is named').choices(rowNames))
  .option('--json', 'print an array of rows with their figures', false)
  .option('--limit <minutes>', 'a row that takes longer is ended', numberFrom(1, 600), 20)
  .addHelpText(
    'after',
    "\nAn audit of a whole day's events: BENCH_AUDIT_EVENTS=86400000 ./scripts/bench audit --limit 90",
  )
  .action((names: RowName[], { json, limit }: { json: boolean; limit: number }) => main(names, json, limit))
  .parseAsync()
