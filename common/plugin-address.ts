import ipaddr from 'ipaddr.js'
import { cut } from './errors.js'

/** Which addresses of DMI plugins may be called. Made by `pluginAddressPolicy`. */
export interface PluginAddressPolicy {
  /** Matches whole normalised addresses; null: none set. */
  readonly allowedUrlPattern: RegExp | null
  /** The service itself listens on loopback only, so that its plugins may be there too. */
  readonly loopbackAllowed: boolean
  /** Where the service itself answers: names in lower case and IP addresses. */
  readonly ownHosts: readonly string[]
  readonly ownPorts: readonly number[]
}

/** The settings that the policy follows from, by their names. */
export interface PluginAddressSettings {
  readonly httpHost: string
  readonly httpPort: number
  /** Empty: none. */
  readonly advertisedUrl: string
  /** Empty: none. */
  readonly allowedUrlPattern: string
}

export type NormalisedPluginAddress =
  { readonly ok: true; readonly address: string } | { readonly ok: false; readonly reason: string }

/** Longest plugin address in characters, as given and as normalised. */
export const PLUGIN_ADDRESS_LIMIT = 2048

/** Cloud metadata services that are not link-local. */
const METADATA_ADDRESSES = ['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']

type ForbiddenKind = 'loopback' | 'link-local' | 'a metadata service' | 'unspecified' | 'multicast' | 'broadcast'

const FORBIDDEN_RANGES: Readonly<Record<string, ForbiddenKind>> = {
  loopback: 'loopback',
  linkLocal: 'link-local',
  unspecified: 'unspecified',
  multicast: 'multicast',
  broadcast: 'broadcast',
}

/**
 * The policy of a service with these settings. `interfaceAddresses` are the machine's own IP addresses; they count as
 * the service's where it listens on all of them. Throws SyntaxError when the pattern is no regular expression.
 */
export function pluginAddressPolicy(
  settings: PluginAddressSettings,
  interfaceAddresses: readonly string[],
): PluginAddressPolicy {
  const advertised = settings.advertisedUrl === '' ? null : new URL(settings.advertisedUrl)
  const host = settings.httpHost.toLowerCase()
  const listensOnAll = ipaddr.isValid(host) && kindOfIp(host) === 'unspecified'
  const ownHosts = [host, ...(listensOnAll ? interfaceAddresses : []), ...(advertised ? [advertised.hostname] : [])]
  return {
    allowedUrlPattern: settings.allowedUrlPattern === '' ? null : new RegExp(`^(?:${settings.allowedUrlPattern})$`),
    loopbackAllowed: isLoopbackHost(host),
    ownHosts: ownHosts.map((own) => canonicalHost(own)),
    ownPorts: [settings.httpPort, ...(advertised ? [portOf(advertised)] : [])],
  }
}

/**
 * The one form of a plugin's address, by which it is stored, compared and called: http or https, host in lower case, no
 * default port, no trailing slash; a path may follow, a query or a fragment may not. Refused with the reason in words: what
 * is no such address, holds credentials, is not matched as a whole by the allow-list pattern when one is set, names our own
 * address and port, or a target that no plugin should have (see `forbiddenTarget`). The reason never repeats the text, for it
 * may hold credentials. Names are not resolved here. (trust levels, section 9)
 */
export function normalisePluginAddress(text: string, policy: PluginAddressPolicy): NormalisedPluginAddress {
  const refuse = (reason: string): NormalisedPluginAddress => ({ ok: false, reason })
  if (text.length > PLUGIN_ADDRESS_LIMIT) return refuse(`is longer than ${PLUGIN_ADDRESS_LIMIT} characters`)
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return refuse('is not an http or https URL with a host')
  if (/[\s\\\u0000-\u001f\u007f]/u.test(text)) return refuse('contains white space, control characters or a backslash')
  if (authority.includes('@')) return refuse('contains credentials')
  if (/[?#]/.test(text)) return refuse('contains a query or a fragment')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.port === '0') return refuse('is not a valid URL')
  const address = textOf(url)
  if (address.length > PLUGIN_ADDRESS_LIMIT) return refuse(`is longer than ${PLUGIN_ADDRESS_LIMIT} characters`)
  if (policy.allowedUrlPattern?.test(address) === false) return refuse('is not matched by allowedUrlPattern')
  const reason = forbiddenHost(url, policy)
  return reason === null ? { ok: true, address } : refuse(reason)
}

/**
 * Why `ip`, to which the host of the normalised `address` resolved, must not be called; null: it may. Asked again at each
 * call, since a name may resolve to something else by then. Forbidden are our own address and port, always; and loopback
 * (unless the service itself listens on loopback only), link-local, metadata services, unspecified, multicast and
 * broadcast, unless the allow-list names them: its pattern matches the address with the IP in place of the name, or, for
 * loopback, with the name `localhost`. Private ranges are where plugins live.
 */
export function forbiddenTarget(address: string, ip: string, policy: PluginAddressPolicy): string | null {
  const url = new URL(address)
  const literal = ip.includes(':') ? `[${canonicalHost(ip)}]` : canonicalHost(ip)
  const named = new URL(address)
  named.hostname = literal
  const kind = kindOfIp(ip)
  if (kind === 'loopback' && isLocalhostName(url.hostname)) return forbiddenHost(url, policy)
  return forbiddenHost(named, policy, kind)
}

/** True for `localhost`, names below it, and loopback IP addresses in any spelling that a URL may have. */
export function isLoopbackHost(host: string): boolean {
  return kindOfHost(canonicalHost(host.toLowerCase())) === 'loopback'
}

function forbiddenHost(
  url: URL,
  policy: PluginAddressPolicy,
  kind: ForbiddenKind | null = kindOfHost(canonicalHost(url.hostname)),
): string | null {
  const host = canonicalHost(url.hostname)
  const isOwnHost = kind === 'loopback' || kind === 'unspecified' || policy.ownHosts.includes(host)
  if (isOwnHost && policy.ownPorts.includes(portOf(url))) return 'is the address of this service itself'
  if (kind === null || (kind === 'loopback' && policy.loopbackAllowed)) return null
  const isNamed = policy.allowedUrlPattern?.test(textOf(url)) ?? false
  return isNamed ? null : `leads to ${cut(host)}, which is ${kind}; allowedUrlPattern may allow it`
}

function kindOfHost(host: string): ForbiddenKind | null {
  if (isLocalhostName(host)) return 'loopback'
  return ipaddr.isValid(host) ? kindOfIp(host) : null
}

function kindOfIp(ip: string): ForbiddenKind | null {
  const parsed = ipaddr.parse(ip)
  const embedded = parsed instanceof ipaddr.IPv6 ? embeddedIpv4(parsed) : null
  if (embedded !== null) return kindOfIp(embedded.toString())
  if (METADATA_ADDRESSES.includes(parsed.toString())) return 'a metadata service'
  return FORBIDDEN_RANGES[parsed.range()] ?? null
}

/** The IPv4 address that an IPv6 one stands for: mapped, compatible, translated (RFC 6052, 6145) or 6to4. */
function embeddedIpv4(ip: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = ip.toByteArray()
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && (bytes[12] ?? 0) + (bytes[13] ?? 0) > 0
  const range = ip.range()
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6))
  const endsInIpv4 = isCompatible || range === 'ipv4Mapped' || range === 'rfc6145' || range === 'rfc6052'
  return endsInIpv4 ? new ipaddr.IPv4(bytes.slice(12)) : null
}

function isLocalhostName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host)
}

/** Without brackets and zone, and IP addresses in their shortest spelling. */
function canonicalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '')
  return ipaddr.isValid(bare) ? ipaddr.parse(bare).toString() : bare
}

function textOf(url: URL): string {
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}
