/** The part of the official client that is used here: its own types are those of all of Kubernetes. */
declare module '@kubernetes/client-node' {
  export interface RequestContext {
    setSignal(signal: AbortSignal): void
  }
  /** What the client takes for an observable. */
  export interface Later<Value> {
    toPromise(): Promise<Value>
  }
  export interface RequestOptions {
    readonly middleware: readonly {
      pre(context: RequestContext): Later<RequestContext>
      post<Response>(context: Response): Later<Response>
    }[]
    readonly middlewareMergeStrategy: 'append'
  }
  export interface PodName {
    readonly name: string
    readonly namespace: string
  }
  export class CoreV1Api {
    readNamespacedPod(
      pod: PodName,
      options?: RequestOptions,
    ): Promise<{ readonly metadata?: { readonly uid?: string } }>
    deleteNamespacedPod(
      pod: PodName & { readonly body: { readonly preconditions: { readonly uid: string } } },
      options?: RequestOptions,
    ): Promise<unknown>
  }
  export class KubeConfig {
    /** KUBECONFIG, else ~/.kube/config, else the service account of the pod that this runs in. */
    loadFromDefault(): void
    loadFromClusterAndUser(
      cluster: { readonly name: string; readonly server: string; readonly skipTLSVerify?: boolean },
      user: { readonly name: string },
    ): void
    makeApiClient(api: typeof CoreV1Api): CoreV1Api
  }
}
