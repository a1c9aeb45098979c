import type { DmiPluginNames, TrustLevel } from '../../schemas/trust-level/journal-events.js'

/** What queries of the trust-level domain answer; all JSON. The HTTP shapes are made of these in `api/`. */

export interface CmHandleView extends DmiPluginNames {
  readonly cmHandle: string
  readonly alternateId: string
  readonly moduleSetTag: string
  readonly dataProducerIdentifier: string
  readonly cmHandleStatus: string
  readonly publicProperties: Readonly<Record<string, string>>
  readonly additionalProperties: Readonly<Record<string, string>>
  readonly dataSyncEnabled: boolean
  /** Journal time of the last change of state, ms. */
  readonly lastUpdateTime: number
  /** Effective: the lower of own and data plugin's; NONE where either is unknown. */
  readonly trustLevel: TrustLevel
}

export interface TrustEvidence {
  /** As it counts: COMPLETE where the plugin returned after the report (`onDmiRestart: complete`). */
  readonly ownLevel: TrustLevel | null
  readonly ownSince: number | null
  readonly plugin: string
  readonly pluginLevel: TrustLevel | null
  readonly pluginSince: number | null
  /** Event time of the last heartbeat, ms. */
  readonly lastHeartbeat: number | null
  /** The journal record that decided the effective level. */
  readonly decidedBy: { readonly topic: string; readonly partition: number; readonly offset: number } | null
}

/** Answer of the query `cm-handle` (key: the handle id). */
export type CmHandleLookUp =
  | { readonly found: true; readonly handle: CmHandleView; readonly evidence: TrustEvidence }
  /** Not registered; a level reported for it is pending since then (ms), else null. */
  | { readonly found: false; readonly pendingSince: number | null }

/** Answer of the query `alternate-id` (key: the alternate id): who holds or has claimed it. The handle's row decides. */
export interface AlternateIdLookUp {
  readonly cmHandle: string | null
}

/** Answer of the query `reference` (key: the text): the handle of this id, and who holds or has claimed it as alternate id. */
export interface ReferenceLookUp {
  readonly byId: CmHandleLookUp
  readonly byAlternateId: string | null
}

/** Conditions of a search, all of which must hold. (trust levels, section 2) */
export type Condition =
  | { readonly kind: 'publicProperties'; readonly properties: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'additionalProperties'; readonly properties: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'dmiPlugin'; readonly name: string }
  | { readonly kind: 'trustLevel'; readonly level: TrustLevel }
  /** A leaf of the registry equals one of the values (cps path). */
  | { readonly kind: 'leaf'; readonly leaf: RegistryLeaf; readonly values: readonly string[] }
  /** A public property of that name exists, with the value when one is given. */
  | { readonly kind: 'publicProperty'; readonly name: string; readonly value: string | null }
  /** Never holds (a cps path into what is not searchable). */
  | { readonly kind: 'nothing' }

export type RegistryLeaf =
  | 'id'
  | 'dmi-service-name'
  | 'dmi-data-service-name'
  | 'dmi-model-service-name'
  | 'module-set-tag'
  | 'alternate-id'
  | 'data-producer-identifier'
  | 'state/cm-handle-state'
  | 'state/last-update-time'
  | 'state/data-sync-enabled'

export interface SearchArguments {
  readonly conditions: readonly Condition[]
  /** What each hit carries: the id, the alternate id (the id where there is none), or the whole view. */
  readonly fields: 'id' | 'alternateId' | 'view'
  /** Without it `trustLevel` is left out of the views: only the benchmark asks so. Default true. */
  readonly trustLevels?: boolean
  /** Handle ids after this one (key order); absent: from the start. */
  readonly after?: string
  /** Absent: all. */
  readonly limit?: number
}

/** Answer of the query `search`, asked of every partition: hits in key order of the handle id. */
export interface SearchPage {
  /** Texts for `id` and `alternateId`. */
  readonly texts: readonly string[]
  /** For `view`. */
  readonly views: readonly CmHandleView[]
  /** Handle id of the last hit when the limit cut the page short, to go on after; else null. */
  readonly last: string | null
}

/** Answer of the query `dmi-plugins`, asked of every partition. */
export interface DmiPluginsPage {
  /** Plugins whose home is this partition. */
  readonly plugins: readonly {
    readonly plugin: string
    readonly trustLevel: TrustLevel
    readonly since: number
    /** Journal time of the last check's result, ms. */
    readonly lastCheck: number | null
    readonly healthPath: string
    readonly reason: string
  }[]
  /** Handles in this partition by data plugin. */
  readonly cmHandles: Readonly<Record<string, number>>
}
