import type { Processor } from '../processor.js'
import type { OwnerEntry } from './entry.js'

/** What an owner's record tells of the code and the settings of its term, and who answers for them. */
export function termOf({
  foldVersion,
  settings,
  settingsBy,
}: Pick<Processor, 'foldVersion' | 'settings' | 'settingsBy'>): Pick<
  OwnerEntry,
  'foldVersion' | 'settings' | 'actor' | 'reason'
> {
  return { foldVersion, settings: JSON.stringify(settings), ...settingsBy }
}
