import type { Effector } from '../../../topology/processor.js'
import { POD_DELETION, POD_LOOKUP } from '../effect-requests.js'
import type { PodRequest } from '../effect-requests.js'

/** What is asked of Kubernetes. Rejects where it cannot say, or refuses: it is tried again then. */
export interface Pods {
  /** The pod's uid; undefined: there is none of that name. */
  find(namespace: string, podName: string, signal: AbortSignal): Promise<string | undefined>
  /** Deletes the pod with this uid; one made anew under the same name stays. */
  delete(namespace: string, podName: string, uid: string, signal: AbortSignal): Promise<PodOutcome>
}

export type PodOutcome = 'deleted' | 'not there' | 'another pod'

/** One attempt; a new owner waits as long. */
const DEADLINE_MS = 3000

/** Look-ups and deletions of pods. A failure is logged and tried again, until the fold gives the pod up. (keep-alive, section 1) */
export function podEffectors(pods: Pods): readonly Effector[] {
  return [
    {
      kind: POD_LOOKUP,
      deadlineMs: DEADLINE_MS,
      async perform({ id, payload }, signal) {
        const { ric, address, namespace, podName } = payload as PodRequest
        const uid = (await pods.find(namespace, podName, signal)) ?? ''
        return { type: 'PodFound', data: { ric, address, effectId: id, uid } }
      },
    },
    {
      kind: POD_DELETION,
      deadlineMs: DEADLINE_MS,
      async perform({ id, payload }, signal) {
        const { ric, address, namespace, podName, uid } = payload as PodRequest
        const outcome = await pods.delete(namespace, podName, uid, signal)
        return { type: 'PodDeleted', data: { ric, address, effectId: id, outcome } }
      },
    },
  ]
}
