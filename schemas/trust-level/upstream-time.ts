/** NCMP's form of a time, always in UTC: 2022-12-31T20:30:40.000+0000. (trust levels, section 1.4) */
export function upstreamTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+0000')
}
