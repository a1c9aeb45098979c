/** Counts by a pair of texts, to be told many at once where each alone would cost more than what it counts. */
export class Tally {
  #counts = new Map<string, Map<string, number>>()

  add(name: string, label: string): void {
    let labels = this.#counts.get(name)
    if (labels === undefined) {
      labels = new Map()
      this.#counts.set(name, labels)
    }
    labels.set(label, (labels.get(label) ?? 0) + 1)
  }

  /** Tells what was added since the last call. */
  tell(hear: (name: string, label: string, times: number) => void): void {
    for (const [name, labels] of this.#counts) {
      for (const [label, times] of labels) hear(name, label, times)
    }
    this.#counts = new Map()
  }
}
