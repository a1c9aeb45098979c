/** Which of an event's times was taken. MALFORMED: one was there and could not be used; ABSENT: there was none. */
export type EventTimeSource = 'CE_TIME' | 'RECORD' | 'MALFORMED' | 'ABSENT'

/** Nothing reported here is older. (trust levels, section 0) */
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * The time of an event, ms since 1970: its `time` attribute, else the record's timestamp. null: to be taken at arrival, as one
 * that is malformed, -1 or before 2000 is. That a time lies too far after arrival is for the fold to see. (trust levels, section 0)
 */
export function eventTimeOf(
  time: string | null,
  recordTimestamp: number | null,
): { readonly eventTime: number | null; readonly eventTimeSource: EventTimeSource } {
  const stated = time === null ? recordTimestamp : parseRfc3339(time)
  if (time === null && stated === null) return { eventTime: null, eventTimeSource: 'ABSENT' }
  // Nanoseconds in a record's timestamp are no safe whole number, so they could not be kept either.
  if (stated === null || !Number.isInteger(stated) || stated < EARLIEST_MS || stated > LATEST_MS) {
    return { eventTime: null, eventTimeSource: 'MALFORMED' }
  }
  return { eventTime: stated, eventTimeSource: time === null ? 'RECORD' : 'CE_TIME' }
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/**
 * RFC 3339 date and time as ms since 1970, digits beyond milliseconds cut off; null: not one. A leap second, which is only
 * at 23:59:60 UTC, counts as the last millisecond before midnight.
 */
export function parseRfc3339(text: string): number | null {
  const match = text.length > 64 ? null : rfc3339.exec(text)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match
  const leap = second === '60'
  if (Number(hour) > 23 || Number(minute) > 59 || (Number(second) > 59 && !leap)) return null
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null
  // Date.UTC takes years below 100 as 19xx, and days beyond the month's end as the next month's.
  const midnight = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (new Date(midnight).getUTCDate() !== Number(day) || new Date(midnight).getUTCMonth() !== Number(month) - 1)
    return null
  const milliseconds = leap ? 59_999 : Number(second) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  const local = midnight + (Number(hour) * 60 + Number(minute)) * 60_000 + milliseconds
  const utc = local - (sign === '-' ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  return leap && (utc + 1) % 86_400_000 !== 0 ? null : utc
}
