import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { forbiddenTarget, type PluginAddressPolicy } from '../../../common/plugin-address.js'

/** All IP addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true })

/**
 * Where the plugin's host is now, without what the policy forbids; when nothing is left, why. Rejects when the name cannot
 * be resolved, or as soon as `signal` is aborted.
 */
export async function permittedAddresses(
  plugin: string,
  policy: PluginAddressPolicy,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<{ readonly permitted: readonly LookupAddress[]; readonly refusal: string }> {
  const host = new URL(plugin).hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(host)
  const addresses = family === 0 ? await unlessAborted(resolve(host), signal) : [{ address: host, family }]
  const refusals = addresses.map(({ address }) => forbiddenTarget(plugin, address, policy))
  return {
    permitted: addresses.filter((_address, index) => refusals[index] === null),
    refusal: refusals.find((refusal) => refusal !== null) ?? 'the name has no address',
  }
}

/** For `net.connect`: connects to the very addresses that were checked, whatever the name resolves to by then. */
export function lookupAmong(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all === true) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('aborted'))
    signal.addEventListener('abort', abort, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
