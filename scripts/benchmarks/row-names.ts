/** The rows of the benchmark, in the order they run; each is `rows/<name>.ts`. */
export const rowNames = [
  'raw',
  'burst',
  'steady',
  'plugin-down',
  'search',
  'reads',
  'forward',
  'kafka',
  'steady-kafka',
  'registration',
  'outcomes',
  'selections',
  'keep-alive',
  'replay',
  'audit',
  'preload',
  'memory',
] as const

/** Measured on the brokers of PULSEFOLD_KAFKA_BROKERS; without any they are run only when they are named. */
export const kafkaRows: ReadonlySet<string> = new Set(['forward', 'kafka', 'steady-kafka'] satisfies RowName[])

export type RowName = (typeof rowNames)[number]
