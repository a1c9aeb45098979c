import type { MemberView } from '../log/log.js'
import { decodeMemberData } from './member-data.js'

/** An instance of the application. */
export interface Instance {
  /** Where it serves HTTP; empty: it told none. */
  readonly url: string
  /** What it takes calls of other instances with. */
  readonly token: string
  readonly isSelf: boolean
}

export interface StandbyInstance extends Instance {
  /** Records of the changelog that its copy lacked when it told so; infinite: not known. */
  readonly lagRecords: number
}

/** Who has a partition. */
export interface Holders {
  /** Absent while the partition is handed over, and before the first rebalance: a standby may answer meanwhile. */
  readonly owner: Instance | undefined
  /** In the order in which to ask: least lag first. */
  readonly standbys: readonly StandbyInstance[]
}

/** Which instance has what, as of the last rebalance; it may have changed since, and each instance knows only its own for sure. */
export interface Directory {
  /** All instances, this one too. */
  readonly instances: readonly Instance[]
  holders(domain: string, partition: number): Holders
}

const nobody: Holders = { owner: undefined, standbys: [] }

/** The directory of a group whose members tell `MemberData`. */
export class GroupDirectory implements Directory {
  readonly #domainOf: (topic: string) => string | undefined
  #instances: readonly Instance[] = []
  #holders: ReadonlyMap<string, Holders> = new Map()

  /** `domainOf` names the domain of a journal topic; other topics have no holders. */
  constructor(domainOf: (topic: string) => string | undefined) {
    this.#domainOf = domainOf
  }

  get instances(): readonly Instance[] {
    return this.#instances
  }

  holders(domain: string, partition: number): Holders {
    return this.#holders.get(nameOf(domain, partition)) ?? nobody
  }

  /** After a rebalance. */
  update(members: readonly MemberView[]): void {
    const instances: Instance[] = []
    const holders = new Map<string, { owner: Instance | undefined; standbys: StandbyInstance[] }>()
    const holdersOf = (
      domain: string,
      partition: number,
    ): { owner: Instance | undefined; standbys: StandbyInstance[] } => {
      const name = nameOf(domain, partition)
      const known = holders.get(name) ?? { owner: undefined, standbys: [] }
      holders.set(name, known)
      return known
    }
    for (const { isSelf, data, active, standby } of members) {
      const { url, token, stores } = decodeMemberData(data)
      const instance = { url, token, isSelf }
      instances.push(instance)
      for (const { topic, partition } of active) {
        const domain = this.#domainOf(topic)
        if (domain !== undefined) holdersOf(domain, partition).owner = instance
      }
      for (const { topic, partition } of standby) {
        const domain = this.#domainOf(topic)
        if (domain === undefined) continue
        const store = stores.find((held) => held.domain === domain && held.partition === partition)
        const lagRecords = store?.lagRecords ?? Number.POSITIVE_INFINITY
        holdersOf(domain, partition).standbys.push({ ...instance, lagRecords })
      }
    }
    for (const { standbys } of holders.values()) standbys.sort((a, b) => compare(a.lagRecords, b.lagRecords))
    this.#instances = instances
    this.#holders = holders
  }

  /** This instance goes: what it has is its first standby's next. */
  leave(): void {
    const heirs = [...this.#holders].map(([name, { owner, standbys }]): [string, Holders] => {
      const others = standbys.filter(({ isSelf }) => !isSelf)
      return [
        name,
        owner?.isSelf === true ? { owner: others[0], standbys: others.slice(1) } : { owner, standbys: others },
      ]
    })
    this.#holders = new Map(heirs)
  }
}

/** Infinity less infinity is no number. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function nameOf(domain: string, partition: number): string {
  return `${domain}/${partition}`
}
