/** As the work; rejects when the process has nothing left to do and the work is not done: it never will be. */
export function unlessStuck<Result>(work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stuck = (): void => reject(new Error('it waits for something that never comes'))
    process.once('beforeExit', stuck)
    void work.then(resolve, reject).finally(() => process.off('beforeExit', stuck))
  })
}
