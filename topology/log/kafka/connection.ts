import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Assigner, ISocketFactory, KafkaConfig } from 'kafkajs'
import { Kafka, logLevel } from 'kafkajs'
import { stopIdleTimers } from './idle-timer.js'
import { ByteReader } from './protocol/byte-reader.js'
import type { Request } from './protocol/requests.js'
import { isRetriable } from './retry.js'

export interface ConnectionOptions {
  /** host:port of brokers to begin with; the others are learnt from them. */
  readonly brokers: readonly string[]
  readonly clientId: string
  /** As kafkajs takes them. */
  readonly ssl?: KafkaConfig['ssl']
  readonly sasl?: KafkaConfig['sasl']
  /** What the client has to say: connections lost, brokers tried. */
  readonly onClientLog?: (message: string) => void
  /** How long a broker may take to answer. */
  readonly requestTimeoutMs: number
}

/** kafkajs sends requests of this kind on a connection of their own. */
const fetchKey = 1

/** What a coordinator coordinates. */
export type CoordinatorType = 'group' | 'transaction'

export interface JoinedGroup {
  readonly generationId: number
  readonly leaderId: string
  readonly memberId: string
  readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[]
}

interface Membership {
  readonly groupId: string
  readonly memberId: string
}

interface TopicPositions {
  readonly topic: string
  readonly partitions: readonly { readonly partition: number; readonly offset?: string; readonly metadata?: string }[]
}

interface ProtocolRequest {
  readonly request: {
    readonly apiKey: number
    readonly apiVersion: number
    readonly apiName: string
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>
  }
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<object>
    readonly parse: (data: object) => Promise<object>
  }
  readonly requestTimeout: number
  readonly logResponseError: false
}

/** One TCP connection. */
interface Wire {
  readonly socket?: { destroy(error: Error): void }
  isConnected(): boolean
  connect(): Promise<unknown>
}

/** A broker as kafkajs has it, with what its published type leaves out. */
export interface Broker {
  readonly nodeId: number
  readonly connectionPool: {
    readonly pool: readonly [requests: Wire, fetches: Wire]
    send(request: ProtocolRequest): Promise<object>
  }
  disconnect(): Promise<void>
  joinGroup(
    request: Membership & {
      readonly sessionTimeout: number
      readonly rebalanceTimeout: number
      readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[]
    },
  ): Promise<JoinedGroup>
  syncGroup(
    request: Membership & {
      readonly generationId: number
      readonly groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[]
    },
  ): Promise<{ readonly memberAssignment: Buffer }>
  heartbeat(request: Membership & { readonly groupGenerationId: number }): Promise<unknown>
  leaveGroup(request: Membership): Promise<unknown>
  offsetCommit(
    request: Membership & { readonly groupGenerationId: number; readonly topics: readonly TopicPositions[] },
  ): Promise<unknown>
  offsetFetch(request: { readonly groupId: string; readonly topics: readonly TopicPositions[] }): Promise<{
    readonly responses: readonly {
      readonly partitions: readonly { readonly offset: string; readonly metadata: string | null }[]
    }[]
  }>
  createTopics(request: {
    readonly topics: readonly {
      readonly topic: string
      readonly numPartitions: number
      readonly replicationFactor: number
      readonly configEntries: readonly { readonly name: string; readonly value: string }[]
    }[]
    readonly timeout: number
  }): Promise<unknown>
  describeConfigs(request: {
    readonly resources: readonly {
      readonly type: number
      readonly name: string
      readonly configNames: readonly string[]
    }[]
  }): Promise<{
    readonly resources: readonly {
      readonly configEntries: readonly { readonly configName: string; readonly configValue: string }[]
    }[]
  }>
}

/** Between the probes of a socket on which nothing moves. */
const KEEP_ALIVE_MS = 60_000

interface Cluster {
  connect(): Promise<void>
  disconnect(): Promise<void>
  refreshMetadata(): Promise<void>
  findBroker(options: { readonly nodeId: number }): Promise<Broker>
  findControllerBroker(): Promise<Broker>
  findGroupCoordinator(options: { readonly groupId: string; readonly coordinatorType: number }): Promise<Broker>
}

/**
 * The connections to the brokers: two to each that is spoken to, of which one is for fetches alone. A broker answers one
 * request of a connection after the other, so whoever sends one that waits (a fetch, a join) has connections of its own.
 * kafkajs connects, authenticates, finds brokers and coordinators; what it would do with the requests is done here.
 */
export class Connection {
  readonly #cluster: Cluster
  readonly #requestTimeoutMs: number
  readonly #opening = new Map<Wire, Promise<unknown>>()
  /** Nodes, by type and id. */
  readonly #coordinators = new Map<string, number>()
  #connected: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.#requestTimeoutMs = options.requestTimeoutMs
    this.#cluster = clusterOf(options)
  }

  async send<Answer>(nodeId: number, request: Request<Answer>): Promise<Answer> {
    await this.#connect()
    return this.sendTo(await this.#cluster.findBroker({ nodeId }), request)
  }

  async sendTo<Answer>(broker: Broker, request: Request<Answer>): Promise<Answer> {
    const { apiKey, apiVersion, apiName, body, waitMs = 0 } = request
    try {
      await this.#open(broker.connectionPool.pool[apiKey === fetchKey ? 1 : 0])
      const answered = await broker.connectionPool.send({
        request: { apiKey, apiVersion, apiName, encode: () => Promise.resolve({ buf: body, buffer: body }) },
        response: {
          decode: (payload) => Promise.resolve({ answer: request.read(new ByteReader(payload)) }),
          parse: (data) => Promise.resolve(data),
        },
        requestTimeout: this.#requestTimeoutMs + waitMs,
        logResponseError: false,
      })
      return (answered as { answer: Answer }).answer
    } catch (error) {
      await dropIfBroken(broker, error)
      throw error
    }
  }

  async controller(): Promise<Broker> {
    await this.#connect()
    return this.#opened(await this.#cluster.findControllerBroker())
  }

  async broker(nodeId: number): Promise<Broker> {
    await this.#connect()
    return this.#opened(await this.#cluster.findBroker({ nodeId }))
  }

  /** Asks the coordinator, which is looked up once, and anew when it may have moved. */
  async atCoordinator<T>(type: CoordinatorType, id: string, ask: (coordinator: Broker) => Promise<T>): Promise<T> {
    const name = `${type}/${id}`
    const nodeId = this.#coordinators.get(name)
    try {
      const broker = await (nodeId === undefined ? this.coordinator(type, id) : this.broker(nodeId))
      this.#coordinators.set(name, broker.nodeId)
      return await ask(broker)
    } catch (error) {
      if (isRetriable(error)) this.#coordinators.delete(name)
      throw error
    }
  }

  async coordinator(type: CoordinatorType, id: string): Promise<Broker> {
    await this.#connect()
    const coordinatorType = type === 'group' ? 0 : 1
    return this.#opened(await this.#cluster.findGroupCoordinator({ groupId: id, coordinatorType }))
  }

  async close(): Promise<void> {
    await this.#connected?.catch(() => undefined)
    await this.#cluster.disconnect()
  }

  async #opened(broker: Broker): Promise<Broker> {
    await this.#open(broker.connectionPool.pool[0])
    return broker
  }

  /** kafkajs opens one socket a caller when several find the connection closed, and loses sight of all but the last. */
  async #open(wire: Wire): Promise<void> {
    if (wire.isConnected()) return
    let opening = this.#opening.get(wire)
    if (opening === undefined) {
      opening = wire.connect().finally(() => this.#opening.delete(wire))
      this.#opening.set(wire, opening)
    }
    await opening
  }

  #connect(): Promise<void> {
    this.#connected ??= this.#cluster
      .connect()
      .then(() => this.#cluster.refreshMetadata())
      .catch((error: unknown) => {
        this.#connected = undefined
        throw error
      })
    return this.#connected
  }
}

/** A connection that did not answer in time may answer late, and in its order: it is cut, so that the next one is new. */
async function dropIfBroken(broker: Broker, error: unknown): Promise<void> {
  const { name } = error as Error
  if (name === 'KafkaJSConnectionClosedError') await broker.disconnect()
  if (name === 'KafkaJSRequestTimeoutError') {
    for (const { socket } of broker.connectionPool.pool) socket?.destroy(error as Error)
  }
}

/**
 * Each request goes out at once. As kafkajs opens them by itself, sockets hold a small one back until the one before is
 * acknowledged, for which the other side takes up to 40 ms.
 */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const name = isIP(host) === 0 ? { servername: host } : {}
  // Null where TLS is not set, whatever the type says.
  const isPlain = (ssl as object | null) === null
  const socket = isPlain ? connect({ host, port }, onConnect) : connectTls({ host, port, ...name, ...ssl }, onConnect)
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS)
}

/** kafkajs hands its cluster to whoever makes assigners for a consumer; this consumer is never run. */
function clusterOf({ brokers, clientId, ssl, sasl, onClientLog, requestTimeoutMs }: ConnectionOptions): Cluster {
  stopIdleTimers()
  let found: unknown
  const kafka = new Kafka({
    ...{ brokers: [...brokers], clientId, requestTimeout: requestTimeoutMs, connectionTimeout: 5_000 },
    socketFactory: openSocket,
    ...(ssl !== undefined && { ssl }),
    ...(sasl !== undefined && { sasl }),
    retry: { initialRetryTime: 50, maxRetryTime: 1_000, retries: 5 },
    logLevel: onClientLog === undefined ? logLevel.NOTHING : logLevel.ERROR,
    logCreator:
      () =>
      ({ namespace, log: { message, error } }) =>
        onClientLog?.([`${namespace}: ${message}`, ...(typeof error === 'string' ? [error] : [])].join(': ')),
  })
  kafka.consumer({
    groupId: clientId,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        found = cluster
        return {} as Assigner
      },
    ],
  })
  return found as Cluster
}
