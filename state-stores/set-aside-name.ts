/** What a store's directory is called once set aside: `NAME.set-aside-NUMBER-REASON`. */
export function setAsideName(name: string, number: number, reason: string): string {
  const words = reason.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `${setAsidePrefix(name)}${number}-${words.slice(0, 40).replace(/^-|-$/g, '') || 'unknown'}`
}

export function setAsidePrefix(name: string): string {
  return `${name}.set-aside-`
}
