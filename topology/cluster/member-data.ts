/** A task whose state an instance has, owned or not. */
export interface HeldStore {
  readonly domain: string
  readonly partition: number
  /** Records of the changelog that it has not applied; null: not known. */
  readonly lagRecords: number | null
}

/** What an instance tells all others with its membership. */
export interface MemberData {
  /** Where others reach it; empty: nowhere. */
  readonly url: string
  /** What they must show there; new at each start, and told to nobody else. */
  readonly token: string
  readonly stores: readonly HeldStore[]
}

export const noMemberData: MemberData = { url: '', token: '', stores: [] }

type Encoded = readonly [
  url: string,
  token: string,
  stores: Readonly<Record<string, readonly (readonly [number, number | null])[]>>,
]

export function encodeMemberData({ url, token, stores }: MemberData): Buffer {
  const byDomain = new Map<string, (readonly [number, number | null])[]>()
  for (const { domain, partition, lagRecords } of stores) {
    byDomain.set(domain, [...(byDomain.get(domain) ?? []), [partition, lagRecords]])
  }
  return Buffer.from(JSON.stringify([url, token, Object.fromEntries(byDomain)] satisfies Encoded))
}

/** Data that is not ours counts as none. */
export function decodeMemberData(bytes: Buffer): MemberData {
  try {
    const [url, token, byDomain] = JSON.parse(bytes.toString()) as Encoded
    const stores = Object.entries(byDomain).flatMap(([domain, held]) =>
      held.map(([partition, lagRecords]): HeldStore => ({ domain, partition, lagRecords })),
    )
    return { url, token, stores }
  } catch {
    return noMemberData
  }
}
