/** Names of our own topics and stores; all begin with the application id, as Kafka Streams' do. */
export const names = {
  journal: (applicationId: string, domain: string): string => `${applicationId}-${domain}-journal`,
  changelog: (applicationId: string, store: string): string => `${applicationId}-${store}-changelog`,
  digests: (applicationId: string, store: string): string => `${applicationId}-${store}-digests`,
  deadLetters: (applicationId: string): string => `${applicationId}-dead-letters`,
  /** Of a journal where two sites have one each: what a site's folds make carries it, so that nothing of both is alike. */
  siteJournal: (site: string, journalTopic: string): string => (site === '' ? journalTopic : `${site}.${journalTopic}`),
  /** Of the site register: its topic, and the front part of its journal's name. */
  site: (applicationId: string): string => `${applicationId}-site`,
  /** Where the log is probed. */
  health: (applicationId: string): string => `${applicationId}-health`,
  mirror: (site: string, journalTopic: string): string => `mirror.${site}.${journalTopic}`,
  /** Id of the writer by which an instance sends outputs declared `once`. */
  onceWriter: (applicationId: string, instance: string): string => `${applicationId}-once-${instance}`,
  sources: (applicationId: string): string => `${applicationId}-sources`,
  taskStore: (domain: string, partition: number): string => `${domain}-${partition}`,
}

/** Whether a topic, by its name, is what audits read: a journal or its mirror, a changelog, digests; of any application. */
export function isAuditedTopic(topic: string): boolean {
  return /-(journal|changelog|digests)$/.test(topic)
}
