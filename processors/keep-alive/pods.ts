import type { PodDeleted, PodFound } from '../../schemas/keep-alive/journal-events.js'
import { effectIdOf } from './context.js'
import type { Context } from './context.js'
import { POD_DELETION, POD_LOOKUP } from './effect-requests.js'
import type { PodRequest } from './effect-requests.js'
import { keyOf, podDeletions } from './tables.js'
import type { PodDeletionRow } from './tables.js'

/**
 * Owes the deletion of a killed instance's pod, where Kubernetes is configured. The uid is looked
 * up and journalled first, and the deletion names it: so a repeat cannot hit a pod that was made anew. (keep-alive, section 1)
 */
export function deletePod(context: Context, ric: string, address: string, podName: string, due: number): void {
  if (context.settings.kubernetesNamespace === '') return
  request(context, { ric, address, podName, uid: '', due })
}

export function podFound({ ric, address, effectId, uid }: PodFound, context: Context): void {
  const key = keyOf(ric, address)
  const pod = context.get(podDeletions, key)
  if (pod === undefined || effectIdOfPod(key, pod) !== effectId) return
  if (uid === '') end(context, key, pod.podName === '' ? 'name not known' : 'not there')
  else request(context, { ric, address, podName: pod.podName, uid, due: pod.due })
}

export function podDeleted({ ric, address, effectId, outcome }: PodDeleted, context: Context): void {
  const key = keyOf(ric, address)
  const pod = context.get(podDeletions, key)
  if (pod !== undefined && effectIdOfPod(key, pod) === effectId) end(context, key, outcome)
}

/** Time is up for the pod of the life that was to end at `due`. */
export function givePodUp(context: Context, ric: string, address: string, due: number): void {
  if (context.get(podDeletions, keyOf(ric, address))?.due === due) withdrawPod(context, ric, address)
}

/** What is still owed about the pod of a former life is no longer wanted. */
export function withdrawPod(context: Context, ric: string, address: string): void {
  const key = keyOf(ric, address)
  const pod = context.get(podDeletions, key)
  if (pod === undefined) return
  context.withdraw(effectIdOfPod(key, pod))
  end(context, key, 'given up')
}

interface Deletion extends Omit<PodRequest, 'namespace'> {
  readonly due: number
}

function request(context: Context, { due, ...pod }: Deletion): void {
  const { ric, address, podName, uid } = pod
  const key = keyOf(ric, address)
  const row = { podName, uid, due, ...context.position }
  context.put(podDeletions, key, row)
  const payload: PodRequest = { ...pod, namespace: context.settings.kubernetesNamespace }
  const kind = uid === '' ? POD_LOOKUP : POD_DELETION
  // One pod waits for no other.
  context.request({ id: effectIdOfPod(key, row), kind, target: keyOf('pod', ric, address), payload })
}

function effectIdOfPod(key: string, row: PodDeletionRow): string {
  return effectIdOf(row, 'pod', key)
}

function end(context: Context, key: string, outcome: string): void {
  context.delete(podDeletions, key)
  context.count('pods', outcome)
}
