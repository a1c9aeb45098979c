import type { Settings } from '../../common/settings.js'

const anyAddress = new Set(['0.0.0.0', '[::]'])

/** Where other instances reach this one: as set, else where it listens; of all addresses, by the machine's name. */
export function advertisedUrl(
  { advertisedUrl: set }: Pick<Settings, 'advertisedUrl'>,
  url: string,
  machine: string,
): string {
  if (set !== '') return set
  const listening = new URL(url)
  if (anyAddress.has(listening.hostname)) listening.hostname = machine
  return listening.origin
}
