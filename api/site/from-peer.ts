import { isSiteRecord } from '../../processors/site/index.js'
import { actWords } from './site-control.js'
import type { ActResult, ActWord, Overlap, SiteProgress, SiteView, TaskDigest } from './site-control.js'

const NO_PROGRESS: SiteProgress = { loadedTo: 0, eventsPerSecond: 0, etaMs: null, events: 0, knownFrom: 0 }

type Unknown<Shape> = { readonly [Name in keyof Shape]?: unknown }
const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** What the other site has told, as its JSON says; undefined: it is something else, and nothing may be done by it. */
export function siteViewFrom(json: unknown): (SiteView & { readonly accepted: boolean }) | undefined {
  const { record, healthy, consumes, ends, progress, overlap, accepted } = (json ?? {}) as Unknown<
    SiteView & { readonly accepted: boolean }
  >
  if (!isSiteRecord(record) || typeof consumes !== 'boolean' || typeof accepted !== 'boolean') return undefined
  if (!Array.isArray(ends) || !ends.every(isEnd)) return undefined
  return {
    ...{ record, consumes, accepted, ends, healthy: healthy === true },
    progress: isProgress(progress) ? progress : NO_PROGRESS,
    overlap: isOverlap(overlap) ? overlap : null,
  }
}

function isEnd(value: unknown): value is SiteView['ends'][number] {
  const { topic, partition, end } = (value ?? {}) as Unknown<SiteView['ends'][number]>
  return typeof topic === 'string' && isIndex(partition) && isIndex(end)
}

function isProgress(value: unknown): value is SiteProgress {
  const { etaMs, loadedTo, eventsPerSecond, events, knownFrom } = (value ?? {}) as Unknown<SiteProgress>
  return [loadedTo, eventsPerSecond, events, knownFrom, etaMs ?? 0].every(isIndex)
}

function isOverlap(value: unknown): value is Overlap {
  const { from, to, events } = (value ?? {}) as Unknown<Overlap>
  return [from, to, events].every(isIndex)
}

/** What became of an act that was passed on and done there; undefined: it is something else. */
export function actDoneFrom(json: unknown): ActResult | undefined {
  const { status, epoch, phase } = (json ?? {}) as Unknown<Extract<ActResult, { ok: true }>>
  const isDone = actWords.includes(status as ActWord) && isIndex(epoch) && typeof phase === 'string'
  return isDone ? { ok: true, status: status as ActWord, epoch, phase } : undefined
}

/** What the other site has sealed last; undefined: it is something else. */
export function digestsFrom(json: unknown): readonly TaskDigest[] | undefined {
  return Array.isArray(json) && json.every(isDigest) ? json : undefined
}

function isDigest(value: unknown): value is TaskDigest {
  const { domain, partition, offset, digest } = (value ?? {}) as Unknown<TaskDigest>
  return [domain, digest].every((text) => typeof text === 'string') && [partition, offset].every(isIndex)
}
