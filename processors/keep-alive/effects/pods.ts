import type { Logger } from '../../../common/logger.js'
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

export interface PodEffectorOptions {
  readonly pods: Pods
  /** Told how each ends. */
  readonly logger: Logger
}

/** Look-ups and deletions of pods. A failure is logged and tried again, until the fold gives the pod up. (keep-alive, section 1) */
export function podEffectors({ pods, logger }: PodEffectorOptions): readonly Effector[] {
  return [
    {
      kind: POD_LOOKUP,
      deadlineMs: DEADLINE_MS,
      async perform({ id, payload }, signal) {
        const { ric, address, namespace, podName } = payload as PodRequest
        const uid = podName === '' ? '' : ((await pods.find(namespace, podName, signal)) ?? '')
        if (uid === '') logger.warn({ ric, address, namespace, podName }, `pod is not deleted: ${missing(podName)}`)
        return { type: 'PodFound', data: { ric, address, effectId: id, uid } }
      },
    },
    {
      kind: POD_DELETION,
      deadlineMs: DEADLINE_MS,
      async perform({ id, payload }, signal) {
        const { ric, address, namespace, podName, uid } = payload as PodRequest
        const outcome = await pods.delete(namespace, podName, uid, signal)
        logger[outcome === 'deleted' ? 'info' : 'warn']({ ric, address, namespace, podName, uid }, told[outcome])
        return { type: 'PodDeleted', data: { ric, address, effectId: id, outcome } }
      },
    },
  ]
}

function missing(podName: string): string {
  return podName === '' ? 'the init of the instance named none' : 'there is none of that name'
}

const told: Readonly<Record<PodOutcome, string>> = {
  deleted: 'pod is deleted',
  'not there': 'pod is not deleted: it has gone',
  'another pod': 'pod is not deleted: another one has its name by now',
}
