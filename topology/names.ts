/** Names of our own topics and stores; all begin with the application id, as Kafka Streams' do. */
export const names = {
  journal: (applicationId: string, domain: string): string => `${applicationId}-${domain}-journal`,
  changelog: (applicationId: string, store: string): string => `${applicationId}-${store}-changelog`,
  digests: (applicationId: string, store: string): string => `${applicationId}-${store}-digests`,
  deadLetters: (applicationId: string): string => `${applicationId}-dead-letters`,
  taskStore: (domain: string, partition: number): string => `${domain}-${partition}`,
}
