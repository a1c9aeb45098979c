/** Messages between E2 terminations and their manager, by name: the numbers under which RMR knows them. (keep-alive, section 4) */
export const messageTypes = {
  SCTP_CONNECTION_FAILURE: 1080,
  SCTP_CLEAR_ALL: 1090,
  E2_TERM_INIT: 1100,
  E2_TERM_KEEP_ALIVE_REQ: 1101,
  E2_TERM_KEEP_ALIVE_RESP: 1102,
  E2_SETUP_REQ: 12001,
  E2_SETUP_RESP: 12002,
  E2_SETUP_FAILURE: 12003,
  SERVICE_UPDATE: 12030,
  SERVICE_QUERY: 12060,
} as const

export type MessageName = keyof typeof messageTypes

/** The messages that come from E2 terminations. */
export const inboundMessages = [
  'SCTP_CONNECTION_FAILURE',
  'E2_TERM_INIT',
  'E2_TERM_KEEP_ALIVE_RESP',
  'E2_SETUP_REQ',
  'SERVICE_UPDATE',
] as const satisfies readonly MessageName[]

export type InboundMessage = (typeof inboundMessages)[number]

const TYPE_PREFIX = 'org.oran.e2.'

/** CloudEvents type of a message; `SEND_INIT` has no number. */
export function messageType(name: MessageName | 'SEND_INIT'): string {
  return TYPE_PREFIX + name
}

export const E2T_MESSAGE_TYPES: readonly string[] = [`${TYPE_PREFIX}*`]

/** The message of a CloudEvents type or, where given, of a number, which then decides; undefined: none that is taken. */
export function inboundMessageOf(type: string, number: string | undefined): InboundMessage | undefined {
  if (number !== undefined) return inboundMessages.find((name) => String(messageTypes[name]) === number)
  return inboundMessages.find((name) => messageType(name) === type)
}

export function isE2Type(type: string): boolean {
  return type.startsWith(TYPE_PREFIX)
}
