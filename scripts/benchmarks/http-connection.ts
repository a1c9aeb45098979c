import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { AnswerReader } from './answer-reader.js'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** JSON. */
  readonly body?: string
  readonly contentType?: string
}

export interface HttpAnswer {
  /** From the request's write to the answer's last byte. */
  readonly durationMs: number
  /** Of the body. */
  readonly bytes: number
}

/**
 * Sends one request at a time. It does little for each, where a client library does about as much as the service that is
 * measured: a caller short of processor time would measure itself.
 */
export class HttpConnection {
  readonly #origin: URL
  readonly #written: WeakMap<HttpRequest, Buffer>
  #socket: Socket | undefined
  #answer = new AnswerReader()
  #settle: ((error?: Error) => void) | undefined

  /** Connects with the first request; `written` keeps what was sent before, for all connections of an origin. */
  constructor(origin: string, written: WeakMap<HttpRequest, Buffer>) {
    this.#origin = new URL(origin)
    this.#written = written
  }

  /** Rejects when the answer is not 2xx, or the connection ends before it. */
  send(request: HttpRequest): Promise<HttpAnswer> {
    const answer = (this.#answer = new AnswerReader())
    return new Promise((resolve, reject) => {
      const startedAt = performance.now()
      this.#settle = (error) => {
        this.#settle = undefined
        const durationMs = performance.now() - startedAt
        if (error !== undefined) reject(error)
        else if (answer.status < 300) resolve({ durationMs, bytes: answer.bytes })
        else reject(new Error(`${request.method} ${request.path} answered ${answer.status}: ${answer.shown}`))
      }
      this.#connected().write(this.#bytesOf(request))
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #connected(): Socket {
    if (this.#socket !== undefined) return this.#socket
    const socket = connect({ host: this.#origin.hostname, port: Number(this.#origin.port), noDelay: true })
    socket.on('data', (chunk) => {
      if (this.#answer.take(chunk)) this.#settle?.()
    })
    socket.on('error', (error) => this.#settle?.(error))
    socket.on('close', () => {
      this.#socket = undefined
      this.#settle?.(new Error('the connection was closed before the answer'))
    })
    return (this.#socket = socket)
  }

  #bytesOf(request: HttpRequest): Buffer {
    const known = this.#written.get(request)
    if (known !== undefined) return known
    const { method, path, body = '', contentType = 'application/json' } = request
    const length = method === 'GET' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
    const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#origin.host}\r\ncontent-type: ${contentType}\r\n${length}`
    const bytes = Buffer.from(`${head}\r\n${body}`)
    this.#written.set(request, bytes)
    return bytes
  }
}
