const HIGH_BITS = 21
const TWO_POW_32 = 0x1_0000_0000

/**
 * A hash of 53 bits, as a whole number, by which ids are remembered: two lanes of multiply and rotate over the UTF-16 units,
 * mixed as MurmurHash3 ends. Of 20,000 ids none is mistaken for another but once in 10^11 looks. `kind` keeps call ids apart
 * from event ids.
 */
export function idHash(kind: number, first: string, second = ''): number {
  let low = 0x9e3779b9 ^ kind
  let high = 0x85ebca6b + kind
  for (const text of [first, second]) {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      low = Math.imul(low ^ unit, 0xcc9e2d51)
      low = (low << 15) | (low >>> 17)
      high = Math.imul(high ^ unit, 0x1b873593)
      high = (high << 13) | (high >>> 19)
    }
    // Where the first ends and the second begins counts.
    low ^= text.length
    high = Math.imul(high ^ text.length, 0xe6546b64)
  }
  low = mixed(low ^ high)
  high = mixed(high ^ low)
  return (high >>> (32 - HIGH_BITS)) * TWO_POW_32 + (low >>> 0)
}

function mixed(lane: number): number {
  let mix = lane ^ (lane >>> 16)
  mix = Math.imul(mix, 0x85ebca6b)
  mix ^= mix >>> 13
  mix = Math.imul(mix, 0xc2b2ae35)
  return mix ^ (mix >>> 16)
}
