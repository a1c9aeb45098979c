import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { Settings } from '../../common/settings.js'
import { serveReader } from '../../topology/audit/port-reader.js'
import type { JournalReader } from '../../topology/audit/journal-source.js'
import type { ReplayedJournal, Replayer } from '../../topology/audit/replay-journals.js'
import type { ArchiveDirectories } from './archived-source.js'
// RocksDB's library cannot be loaded again once every thread has let it go: with this, the first one holds it.
import { scratchDirectory } from './scratch-stores.js'

export interface ReplayThreadData {
  readonly settings: Settings
  readonly directory: string
  readonly journals: MessagePort
  readonly files: ArchiveDirectories
}

export type ReplayThreadMessage = { readonly offset: number } | { readonly replayed: ReplayedJournal }

/** Most of what a fold makes is garbage at once: with room for a segment or two little of it is ever copied. */
const YOUNG_GENERATION_MB = 64

export interface ReplayThreads {
  readonly replayers: readonly Replayer[]
  close(): Promise<void>
}

/**
 * Threads that fold journals, one for each processor core at most. They read the log through this thread, since one process at a
 * time has an embedded log open, archives by themselves, and fold into stores in a temporary directory, which goes with `close`.
 * `signal` ends what is under way, with its reason.
 */
export async function startReplayThreads(
  reader: JournalReader,
  settings: Settings,
  count = availableParallelism(),
  { archive, history }: ArchiveDirectories = {},
  signal?: AbortSignal,
): Promise<ReplayThreads> {
  const directory = await scratchDirectory()
  const threads = Array.from({ length: count }, () => {
    const { port1, port2 } = new MessageChannel()
    serveReader(port1, reader)
    const data: ReplayThreadData = { settings, directory, journals: port2, files: { archive, history } }
    return new Worker(new URL('replay-thread.js', import.meta.url), {
      workerData: data,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
  })
  return {
    replayers: threads.map((thread) => replayerOf(thread, signal)),
    async close() {
      await Promise.all(threads.map((thread) => thread.terminate()))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function replayerOf(thread: Worker, signal: AbortSignal | undefined): Replayer {
  const failed = new Promise<never>((_resolve, reject) => {
    thread.once('error', reject)
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  failed.catch(() => undefined)
  return (replay, onProgress) => {
    const done = new Promise<ReplayedJournal>((resolve) => {
      thread.on('message', function onMessage(message: ReplayThreadMessage) {
        if ('offset' in message) {
          onProgress(message.offset)
          return
        }
        thread.off('message', onMessage)
        resolve(message.replayed)
      })
    })
    thread.postMessage(replay)
    return Promise.race([done, failed])
  }
}
