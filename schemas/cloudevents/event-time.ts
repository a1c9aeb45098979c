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

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/**
 * RFC 3339 date and time as ms since 1970, digits beyond milliseconds cut off; null: not one. A leap second, which is only
 * at 23:59:60 UTC, counts as the last millisecond before midnight.
 */
export function parseRfc3339(text: string): number | null {
  if (text.length > 64 || !rfc3339.test(text)) return null
  // From here on all is where it must be. No captures: they would cost more than all the rest.
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  const leap = second === 60
  if (hour > 23 || minute > 59 || second > 60 || day < 1 || day > daysOf(year, month)) return null
  const isUtc = text.charCodeAt(text.length - 1) >= LETTERS
  const zone = text.length - (isUtc ? 1 : 6)
  const offsetHour = isUtc ? 0 : twoDigits(text, zone + 1)
  const offsetMinute = isUtc ? 0 : twoDigits(text, zone + 4)
  if (offsetHour > 23 || offsetMinute > 59) return null
  const fraction = zone > 20 ? Number(text.slice(20, Math.min(zone, 23)).padEnd(3, '0')) : 0
  const milliseconds = leap ? 59_999 : second * 1000 + fraction
  // Date.UTC takes years below 100 as 19xx; the calendar repeats after 400 years.
  const midnight = Date.UTC(year + 400, month - 1, day) - MS_OF_400_YEARS
  const local = midnight + (hour * 60 + minute) * 60_000 + milliseconds
  const utc = local - (text.charAt(zone) === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60_000
  return leap && (utc + 1) % 86_400_000 !== 0 ? null : utc
}

/** Code of the first letter. */
const LETTERS = 65
const MS_OF_400_YEARS = 146_097 * 86_400_000

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 48 * 11
}

/** 0 where there is no such month. */
function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  if (month < 1 || month > 12) return 0
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
