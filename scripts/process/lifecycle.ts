import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { Logger } from '../../common/logger.js'
import { exitCodeOf, exitCodes, explain } from './exit-codes.js'

export type StopSignal = 'SIGTERM' | 'SIGINT'

/** The process as the lifecycle sees it. */
export interface Host {
  onSignal(listener: (signal: StopSignal) => void): void
  /** What nobody caught. */
  onUncaught(listener: (thrown: unknown, kind: 'uncaught error' | 'unhandled rejection') => void): void
  /** A line for people, on standard output; the log is on standard error. */
  print(line: string): void
  /** Ends the process at once. */
  exit(code: number): void
}

/** What runs. */
export interface Service {
  /** Where it answers. */
  readonly url: string
  /** Drains, commits, closes. */
  stop(): Promise<void>
}

/**
 * Opens everything; resolves when it is ready. `fail` is for what makes going on useless later: the process then drains and
 * ends with code 70. Once `stopping` is aborted nothing is waited for any more: what stands by then is stopped.
 */
export type Start = (fail: (error: Error) => void, stopping: AbortSignal) => Promise<Service>

/** Docker and Kubernetes' patience is 10 s and more; what remains is for the exit itself. */
export const stopLimitMs = 9_500

const signalNumbers: Readonly<Record<StopSignal, number>> = { SIGINT: 2, SIGTERM: 15 }

/**
 * The life of the process around a service:
 *
 *     starting ──ready──> running ──signal, failure──> stopping ──> exit 0, or 70 after a failure
 *        │                                               │
 *        └──cannot start──> exit 69, 70, 78              ├──not done in 9.5 s──> exit 75
 *                                                        └──second signal──> exit 128 + its number, at once
 *
 * Whatever nobody caught is the last line of the log, and ends the process with code 70 at once. A signal while starting
 * counts: the service is stopped as soon as it stands, ready or not.
 */
export function runProcess(host: Host, clock: Clock, logger: Logger, start: Start): void {
  let isStopping = false
  let failure: Error | undefined
  const stopping = new AbortController()
  const starting = Promise.resolve().then(() => start((error) => void stop('failure', error), stopping.signal))

  host.onUncaught((thrown, kind) => {
    logger.fatal({ err: ensureError(thrown) }, kind)
    host.exit(exitCodes.failed.code)
  })
  host.onSignal((signal) => {
    if (isStopping) host.exit(128 + signalNumbers[signal])
    else void stop(signal)
  })

  void starting.then(
    ({ url }) => {
      if (isStopping) return
      logger.info({ url }, 'ready')
      host.print(`Pulsefold is ready at ${url}`)
    },
    (thrown: unknown) => {
      const error = ensureError(thrown)
      host.print(`Pulsefold cannot start: ${explain(error)}`)
      logger.fatal({ err: error }, 'cannot start')
      host.exit(exitCodeOf(error))
    },
  )

  async function stop(reason: string, error?: Error): Promise<void> {
    failure ??= error
    if (isStopping) return
    isStopping = true
    stopping.abort()
    if (error === undefined) host.print('Pulsefold is stopping')
    else host.print(`Pulsefold stops: ${explain(error)}`)
    logger.info({ reason, err: error }, 'stopping')
    const done = new AbortController()
    void sleep(clock, stopLimitMs, done.signal).then(() => {
      if (done.signal.aborted) return
      logger.fatal({ limitMs: stopLimitMs }, 'stopping took too long')
      host.exit(exitCodes.stopTooSlow.code)
    })
    let service: Service
    try {
      service = await starting
    } catch {
      done.abort()
      return
    }
    try {
      await service.stop()
    } catch (thrown) {
      failure ??= ensureError(thrown)
    }
    done.abort()
    if (failure === undefined) logger.info('stopped')
    else logger.fatal({ err: failure }, 'stopped after a failure')
    host.exit(failure === undefined ? exitCodes.stopped.code : exitCodes.failed.code)
  }
}
