/**
 * The one form by which a plugin is known: scheme and host in lower case, no trailing slash. Names come normalised from the
 * API; this holds for journals written otherwise.
 */
export function pluginName(text: string): string {
  const host = /^[a-z]+:\/\/[^/]*/i.exec(text)?.[0] ?? ''
  return host.toLowerCase() + text.slice(host.length).replace(/\/+$/, '')
}
