/** `./scripts/soak CASE` runs a case in its full length; the tests shorten it. */
export const isFullLength = process.env['PULSEFOLD_TEST_LENGTH'] === 'full'

export const inFull = <Value>(full: Value, shortened: Value): Value => (isFullLength ? full : shortened)
