/** The events of the trust-level journal: all that can change a trust level, a registration or a plugin's health. */

/** NONE < COMPLETE; more may come between them. (trust levels, section 0) */
export const TRUST_LEVELS = ['NONE', 'COMPLETE'] as const
export type TrustLevel = (typeof TRUST_LEVELS)[number]

/** Where the time of a report comes from; MALFORMED, too: taken at arrival and counted. */
export type EventTimeSource = 'CE_TIME' | 'RECORD' | 'MALFORMED' | 'ABSENT'

export interface HeartbeatReported {
  readonly cmHandle: string
  readonly trustLevel: TrustLevel
  /** ms since 1970; null: arrival (the journal record's time). */
  readonly eventTime: number | null
  readonly eventTimeSource: EventTimeSource
  /** ce_source. */
  readonly producer: string
  /** ce_type. */
  readonly eventType: string
}

/** A registration names the plugin: a sign of life. Folded at the plugin's home partition; a command. */
export interface DmiPluginRegistered {
  readonly plugin: string
}

/**
 * What the home partition tells all partitions. `number` is made of the home's journal time, so that it grows with
 * each change; an equal or lower one is ignored.
 */
export interface DmiPluginLevelBroadcast {
  readonly plugin: string
  readonly trustLevel: TrustLevel
  readonly number: number
  /**
   * The number of the last return from NONE to COMPLETE, -1: never. Own levels told before it no longer count
   * (`onDmiRestart: complete`).
   */
  readonly returnNumber: number
  /** Journal time of the last change of level, ms. */
  readonly since: number
  /** The plugin has no handle left and is forgotten. */
  readonly forgotten: boolean
}

/** Result of a health check (effect). */
export interface DmiPluginChecked {
  readonly plugin: string
  readonly up: boolean
  /** The path that answered; remembered for the next check. Empty: none did. */
  readonly healthPath: string
  /** In words: why it is down, or "status UP". */
  readonly reason: string
}

/** A partition has its first handle of the plugin, or lost its last; told to the plugin's home. */
export interface DmiPluginUseChanged {
  readonly plugin: string
  readonly partition: number
  readonly used: boolean
}

/** Command at an alternate id's partition: claims for handles about to be created or changed. */
export interface AlternateIdsClaimed {
  readonly claims: readonly { readonly alternateId: string; readonly cmHandle: string }[]
  /** Names the registration, so that only its own open claims are released. */
  readonly claimId: string
}

/** From the handle's partition: the claim holds, or is free again. Also what ends an open claim after its timer. */
export interface AlternateIdSettled {
  readonly alternateId: string
  readonly cmHandle: string
  /** Empty: whatever claim the handle has (it was removed). */
  readonly claimId: string
  readonly held: boolean
}

/** From the alternate id's partition, when a claim stayed open: does the handle have it? */
export interface AlternateIdQuestioned {
  readonly alternateId: string
  readonly cmHandle: string
  readonly claimId: string
}

export interface DmiPluginNames {
  readonly dmiPlugin: string
  readonly dmiDataPlugin: string
  readonly dmiModelPlugin: string
  readonly dmiDatajobsReadPlugin: string
  readonly dmiDatajobsWritePlugin: string
}

/** Properties travel as a list, for a name may be one that plain objects do not keep (`__proto__`); no name twice. */
export interface Property {
  readonly name: string
  readonly value: string
}

/** null removes the property. */
export interface PropertyChange {
  readonly name: string
  readonly value: string | null
}

export interface CmHandleCreation {
  readonly cmHandle: string
  readonly publicProperties: readonly Property[]
  readonly additionalProperties: readonly Property[]
  readonly moduleSetTag: string
  readonly alternateId: string
  readonly dataProducerIdentifier: string
  readonly cmHandleStatus: string
  /** null: not named. */
  readonly trustLevel: TrustLevel | null
}

/** null leaves as it is. */
export interface CmHandleUpdate {
  readonly cmHandle: string
  readonly publicProperties: readonly PropertyChange[] | null
  readonly additionalProperties: readonly PropertyChange[] | null
  readonly alternateId: string | null
  readonly dataProducerIdentifier: string | null
  readonly cmHandleStatus: string | null
}

export interface CmHandleUpgrade {
  readonly cmHandle: string
  readonly moduleSetTag: string
}

/**
 * Command at a partition of handles: a part (bounded) of one registration request. Within it removed, created, updated,
 * upgraded are folded in this order. (trust levels, section 1.4)
 */
export interface CmHandlesRegistered {
  readonly plugins: DmiPluginNames
  /** What the home partition said of the data plugin when it was settled; folded first, as a broadcast. */
  readonly plugin: DmiPluginLevelBroadcast | null
  readonly claimId: string
  readonly removed: readonly string[]
  readonly created: readonly CmHandleCreation[]
  readonly updated: readonly CmHandleUpdate[]
  readonly upgraded: readonly CmHandleUpgrade[]
}

/** Command: PUT ch/{id}/data-sync. */
export interface DataSyncSet {
  readonly cmHandle: string
  readonly dataSyncEnabled: boolean
}

interface EventTypes {
  HeartbeatReported: HeartbeatReported
  DmiPluginRegistered: DmiPluginRegistered
  DmiPluginLevelBroadcast: DmiPluginLevelBroadcast
  DmiPluginChecked: DmiPluginChecked
  DmiPluginUseChanged: DmiPluginUseChanged
  AlternateIdsClaimed: AlternateIdsClaimed
  AlternateIdSettled: AlternateIdSettled
  AlternateIdQuestioned: AlternateIdQuestioned
  CmHandlesRegistered: CmHandlesRegistered
  DataSyncSet: DataSyncSet
}

export type TrustLevelEvent = {
  [T in keyof EventTypes]: { readonly type: T; readonly data: EventTypes[T] }
}[keyof EventTypes]

/** Answers of the commands. */
export interface DmiPluginAnswer {
  readonly plugin: DmiPluginLevelBroadcast
}
export interface AlternateIdsAnswer {
  /** Alternate ids that another handle holds or has claimed. */
  readonly refused: readonly { readonly alternateId: string; readonly cmHandle: string }[]
}
export interface RegistrationFailure {
  readonly cmHandle: string
  /** "100", "101", "109", …: NCMP response status. */
  readonly errorCode: string
  readonly errorText: string
}
export interface CmHandlesAnswer {
  readonly failedCreated: readonly RegistrationFailure[]
  readonly failedUpdated: readonly RegistrationFailure[]
  readonly failedRemoved: readonly RegistrationFailure[]
  readonly failedUpgraded: readonly RegistrationFailure[]
}
export interface DataSyncAnswer {
  readonly found: boolean
}
