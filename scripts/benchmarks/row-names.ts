/** The rows of the benchmark, in the order they run; each is `rows/<name>.ts`. */
export const rowNames = [
  'raw',
  'burst',
  'steady',
  'plugin-down',
  'search',
  'reads',
  'forward',
  'registration',
  'outcomes',
  'selections',
  'replay',
  'memory',
] as const

export type RowName = (typeof rowNames)[number]
