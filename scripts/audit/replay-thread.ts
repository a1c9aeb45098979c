import { parentPort, threadId, workerData } from 'node:worker_threads'
import { portReader } from '../../topology/audit/port-reader.js'
import { replayer } from '../../topology/audit/replay-journals.js'
import type { JournalReplay } from '../../topology/audit/replay-journals.js'
import { archivedSource } from './archived-source.js'
import { auditedProcessors, peerJournalOf } from './audited-processors.js'
import type { ReplayThreadData, ReplayThreadMessage } from './replay-threads.js'
import { openScratchStore } from './scratch-stores.js'

// The thread of `startReplayThreads`: folds what it is told, one partition at a time. A failure ends it: `error` over there.
const { settings, directory, journals, files } = workerData as ReplayThreadData
let opened = 0
const replay = replayer({
  source: await archivedSource(files, portReader(journals)),
  applicationId: settings.applicationId,
  processors: auditedProcessors(settings),
  peerJournal: peerJournalOf(settings),
  openStore: () => openScratchStore(directory, `thread-${threadId}-store-${++opened}`),
})
const tell = (message: ReplayThreadMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (told: JournalReplay) => {
  void replay(told, (offset) => tell({ offset })).then((replayed) => tell({ replayed }))
})
