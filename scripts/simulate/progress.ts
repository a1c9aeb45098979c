import { SingleBar } from 'cli-progress'

/** How far a run is, for who watches it. */
export interface Progress {
  /** Heartbeats sent so far. */
  update(done: number): void
  /** What is being done now. */
  step(text: string): void
  stop(): void
}

/** A bar on a terminal; elsewhere a line for each step and each tenth. */
export function progressOn(stream: NodeJS.WriteStream, total: number): Progress {
  return stream.isTTY ? progressBar(stream, total) : progressLines((line) => void stream.write(`${line}\n`), total)
}

function progressBar(stream: NodeJS.WriteStream, total: number): Progress {
  const bar = new SingleBar({
    stream,
    format: '{bar} {value}/{total} heartbeats, {step}',
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

export function progressLines(write: (line: string) => void, total: number): Progress {
  let tenths = 0
  return {
    update(done) {
      const now = Math.floor((done * 10) / total)
      if (now > tenths) write(`${done} of ${total} heartbeats`)
      tenths = now
    },
    step: (text) => write(text),
    stop: () => undefined,
  }
}
