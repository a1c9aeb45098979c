import { InvalidArgumentError } from 'commander'

/** For the value of a flag: a number between the two. */
export function numberFrom(least: number, most: number, isWhole = false): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? NaN : Number(text)
    if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value
    throw new InvalidArgumentError(`Not a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`)
  }
}

/** Runs until it is done or Ctrl-C comes; the exit status is 1 when all was not as expected, 130 when interrupted. */
export async function whileNotInterrupted(run: (signal: AbortSignal) => Promise<boolean>): Promise<void> {
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  process.once('SIGINT', interrupt)
  try {
    process.exitCode = (await run(interrupted.signal)) ? 0 : 1
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    process.exitCode = 130
  } finally {
    process.off('SIGINT', interrupt)
  }
}
