import { SingleBar } from 'cli-progress'

/** How far a run is, for who watches it. */
export interface Progress {
  /** So many are done. */
  update(done: number): void
  /** What is being done now. */
  step(text: string): void
  stop(): void
}

/** A bar on a terminal; elsewhere a line for each step and each tenth. `what` is counted. */
export function progressOn(stream: NodeJS.WriteStream, total: number, what: string): Progress {
  if (stream.isTTY) return progressBar(stream, total, what)
  return progressLines((line) => void stream.write(`${line}\n`), total, what)
}

function progressBar(stream: NodeJS.WriteStream, total: number, what: string): Progress {
  const bar = new SingleBar({
    stream,
    format: `{bar} {value}/{total} ${what}, {step}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
  })
  bar.start(total, 0, { step: 'starting' })
  return {
    update: (done) => bar.update(done),
    step: (text) => bar.update({ step: text }),
    stop: () => bar.stop(),
  }
}

export function progressLines(write: (line: string) => void, total: number, what: string): Progress {
  let tenths = 0
  return {
    update(done) {
      const now = Math.floor((done * 10) / total)
      if (now > tenths) write(`${done} of ${total} ${what}`)
      tenths = now
    },
    step: (text) => write(text),
    stop: () => undefined,
  }
}
