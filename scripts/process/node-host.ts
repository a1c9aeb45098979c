import type { Host, StopSignal } from './lifecycle.js'

/** The real process. */
export function nodeHost(): Host {
  // Whoever read the output may leave (`| head -1`); the service goes on.
  process.stdout.on('error', () => undefined)
  return {
    onSignal(listener) {
      for (const signal of ['SIGTERM', 'SIGINT'] satisfies StopSignal[]) process.on(signal, () => listener(signal))
    },
    onUncaught(listener) {
      process.on('uncaughtException', (error) => listener(error, 'uncaught error'))
      process.on('unhandledRejection', (reason) => listener(reason, 'unhandled rejection'))
    },
    print(line) {
      console.log(line)
    },
    exit(code) {
      process.exit(code)
    },
  }
}
