/* Whole numbers in base 128, lowest digits first, the high bit telling that more follow. */

export function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}

export function writeVarint(out: Buffer, at: number, value: number): number {
  let rest = value
  while (rest >= 0x80) {
    out[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  out[at++] = rest
  return at
}
