import t from 'tap'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { ArchiveError } from '../topology/archive/errors.js'
import type { archiveErrors } from '../topology/archive/errors.js'
import { LogError } from '../topology/log/errors.js'
import { ApiError, apiErrors } from './errors.js'
import type { ApiErrorCode } from './errors.js'
import { errorBody, surfaceOf } from './error-shapes.js'
import { publicError } from './http-status.js'
import { testApi } from './test-api.js'

const INSIDES = /\bat .*\.[jt]s|node_modules|\/var\/|\/tmp\/|:9092|kafka-7|Error:/

t.test('a wrong parameter is named with its value and what it may be', async (t) => {
  const { server } = await testApi(t)
  for (const [url, text] of [
    ['/ncmp/v1/ch/x?evidence=maybe', 'evidence: "maybe" is not one of true, false'],
    ['/ncmpInventory/v1/ch?distinguishedName=/a&distinguishedName=/b', 'distinguishedName is given 2 times'],
    ['/ops/topology?format=svg', 'format: "svg" is not one of text, json, mermaid'],
    ['/ops/topics/alarms/records?limit=0', 'limit: 0 is not a whole number from 1 to 10000'],
    ['/ops/topics/alarms/records?offset=x', 'offset: "x" is not a whole number from 0'],
    ['/ops/dead-letters?limit=1.5', 'limit: "1.5" is not a whole number from 1 to 1000'],
    ['/audit/state', 'key is required'],
  ] as const) {
    const answer = await server.app.inject(url)
    const { message, details = message } = answer.json<{ message: string; details?: string }>()
    t.strictSame([answer.statusCode, details], [400, text], url)
  }
})

t.test('HT-12 one shape a surface, without insides', async (t) => {
  const { server, streams, logLines } = await testApi(t)
  const json = { 'content-type': 'application/json' }
  const requests: readonly (readonly [status: number, name: string, request: InjectOptions])[] = [
    [400, 'BAD_REQUEST', { method: 'POST', url: '/ncmp/v1/ch/searches', payload: '{', headers: json }],
    [400, 'BAD_REQUEST', { url: '/ncmpInventory/v1/ch' }],
    [404, 'NOT_FOUND', { url: '/ncmp/v1/ch/unknown' }],
    [404, 'NOT_FOUND', { url: '/ncmp/v9/nothing' }],
    [405, 'METHOD_NOT_ALLOWED', { method: 'DELETE', url: '/ncmp/v1/ch/searches' }],
    [
      413,
      'PAYLOAD_TOO_LARGE',
      { method: 'POST', url: '/ncmp/v1/ch/searches', payload: ' '.repeat(1_100_000), headers: json },
    ],
    [414, 'URI_TOO_LONG', { url: `/ncmp/v1/ch/${'x'.repeat(5000)}` }],
    [
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { method: 'POST', url: '/ncmp/v1/ch/searches', payload: '<a/>', headers: { 'content-type': 'text/xml' } },
    ],
    [
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { method: 'POST', url: '/ncmp/v1/ch/searches', payload: 'x', headers: { ...json, 'content-encoding': 'gzip' } },
    ],
    [400, '', { url: '/ops/topology?format=svg' }],
    [404, '', { url: '/nothing' }],
    [404, '', { url: '/ops/topics/none/records' }],
    [405, '', { method: 'POST', url: '/ops/health/live' }],
    [404, '', { url: '/ncmpOther/v1/ch' }],
  ]
  const check = (answer: LightMyRequestResponse, status: number, name: string, label: string): void => {
    t.equal(answer.statusCode, status, label)
    t.match(answer.headers['content-type'], /^application\/json/, label)
    const body = answer.json<Record<string, unknown>>()
    if (name === '') {
      t.strictSame(Object.keys(body), ['status', 'code', 'message'], label)
      t.equal(body['status'], status)
    } else {
      t.strictSame(Object.keys(body), ['status', 'message', 'details'], label)
      t.equal(body['status'], `${status} ${name}`)
    }
    t.notMatch(answer.body, INSIDES, label)
  }
  for (const [status, name, request] of requests) {
    check(await server.app.inject(request), status, name, JSON.stringify(request).slice(0, 100))
  }

  streams.queryFailure = 'storeFailed'
  logLines.length = 0
  const failed = await server.app.inject('/ncmp/v1/ch/ch-1')
  check(failed, 500, 'INTERNAL_SERVER_ERROR', 'store failed')
  const id = /id is (\S+)\.$/.exec(failed.json<{ details: string }>().details)?.[1] ?? ''
  t.ok(
    logLines.some((line) => line.includes(`"requestId":"${id}"`) && line.includes('kafka-7')),
    'the log has the cause',
  )
  check(await server.app.inject('/ops/dmi-plugins'), 500, '', 'store failed')
  for (const reason of ['restoring', 'notOwned', 'notUpToPosition', 'tooStale', 'stopping'] as const) {
    streams.queryFailure = reason
    for (const [url, name] of [
      ['/ncmp/v1/ch/ch-1', 'SERVICE_UNAVAILABLE'],
      ['/ops/dmi-plugins', ''],
    ] as const) {
      const answer = await server.app.inject(url)
      check(answer, 503, name, reason)
      t.equal(answer.headers['retry-after'], '2')
    }
  }
})

t.test('a method that a path does not take is 405 with those it takes', async (t) => {
  const { server } = await testApi(t)
  const cases: readonly (readonly [method: 'GET' | 'PUT' | 'PATCH' | 'POST', url: string, allow: string])[] = [
    ['PUT', '/ncmp/v1/ch/ch-1', 'GET, HEAD'],
    ['GET', '/ncmp/v1/ch/ch-1/data-sync', 'PUT'],
    ['PATCH', '/ncmpInventory/v1/ch', 'GET, HEAD, POST'],
    ['POST', '/ops/topics/x/records?limit=1', 'GET, HEAD'],
  ]
  for (const [method, url, allow] of cases) {
    const answer = await server.app.inject({ method, url })
    t.equal(answer.statusCode, 405, url)
    t.equal(answer.headers['allow'], allow, url)
  }
})

t.test('base paths are configurable', async (t) => {
  const { server } = await testApi(t, { ncmpBasePath: '/base/ncmp', ncmpInventoryBasePath: '/base/inventory' })
  t.match((await server.app.inject('/base/ncmp/v1/ch/x')).json(), { status: '404 NOT_FOUND' })
  t.match((await server.app.inject('/base/inventory/nothing')).json(), { status: '404 NOT_FOUND' })
  t.match((await server.app.inject('/ncmp/v1/ch/x')).json(), { status: 404, code: 'ROUTE_NOT_FOUND' })
})

t.test('SE-04 every log line is one JSON object, whatever clients send', async (t) => {
  const { server, streams, logLines } = await testApi(t)
  const evil = 'dev-1\n{"level":30,"msg":"admin login ok"}\u001b[31m\u200f\u2028'
  streams.queryFailure = 'storeFailed'
  for (const reference of [evil, 'ok']) {
    await server.app.inject({ url: `/ncmp/v1/ch/${encodeURIComponent(reference)}`, headers: { 'user-agent': evil } })
    await server.app.inject({ url: `/ncmp/${encodeURIComponent(reference)}/x`, headers: { 'idempotency-key': evil } })
  }
  const lines = logLines.join('').split('\n').slice(0, -1)
  t.ok(lines.length >= 3)
  for (const line of lines) {
    const parsed = JSON.parse(line) as { msg: string }
    t.not(parsed.msg, 'admin login ok')
  }
})

t.test('SE-09 bodies that are too large, too deep, too many or packed', async (t) => {
  const { server } = await testApi(t)
  const post = async (url: string, payload: string | Buffer, headers: Record<string, string> = {}): Promise<number> =>
    (
      await server.app.inject({
        method: 'POST',
        url,
        payload,
        headers: { 'content-type': 'application/json', ...headers },
      })
    ).statusCode
  for (const url of ['/ncmp/v1/ch/searches', '/ncmp/v1/ch/id-searches', '/ncmpInventory/v1/ch/searches']) {
    t.equal(await post(url, JSON.stringify({ x: 'y'.repeat(1_100_000) })), 413)
    t.equal(await post(url, JSON.stringify({ cmHandleQueryParameters: Array(100_000).fill({}) })), 400)
    t.equal(await post(url, '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000)), 400)
    t.equal(await post(url, '['.repeat(50_000)), 400)
    t.equal(await post(url, Buffer.alloc(100_000), { 'content-encoding': 'gzip' }), 415)
  }
  t.equal(await post('/ncmpInventory/v1/ch', Buffer.alloc(33 * 1024 * 1024, ' ')), 413)
  t.equal(await post('/ncmpInventory/v1/ch', Buffer.alloc(2 * 1024 * 1024, ' ')), 400)
})

t.test('every code has a status and its two shapes', async (t) => {
  for (const code of Object.keys(apiErrors) as ApiErrorCode[]) {
    const error = new ApiError(code, 'what happened', { faults: [{ index: 0, code: 'X', field: 'f', message: 'm' }] })
    t.equal(error.code, code)
    t.ok(error.status >= 400 && error.status < 600)
    t.match(errorBody('ncmp', error), { status: new RegExp(`^${error.status} [A-Z_]+$`), details: 'what happened' })
    t.strictSame(errorBody('own', error), {
      status: error.status,
      code,
      message: 'what happened',
      errors: [{ index: 0, code: 'X', field: 'f', message: 'm' }],
    })
  }
})

t.test('errors of the log and unknown ones are told without their text', async (t) => {
  const cases: readonly (readonly [error: unknown, code: ApiErrorCode])[] = [
    [new LogError('LOG_UNAVAILABLE', 'broker kafka-7:9092'), 'UNAVAILABLE'],
    [new LogError('LOG_CLOSED', 'kafka-7'), 'STOPPING'],
    [new LogError('RECORD_TOO_LARGE', 'kafka-7'), 'BODY_TOO_LARGE'],
    [new LogError('TOPIC_MISMATCH', 'kafka-7'), 'INTERNAL'],
    [new TypeError('kafka-7'), 'INTERNAL'],
    ['kafka-7', 'INTERNAL'],
    [undefined, 'INTERNAL'],
    [{ code: 7 }, 'INTERNAL'],
  ]
  for (const [error, code] of cases) {
    const shown = publicError(error, 'id-1')
    t.equal(shown.code, code)
    t.notMatch(JSON.stringify(errorBody('own', shown)), /kafka-7/)
  }
})

t.test('auditors are told why the archive of the settings cannot be read, and what to do', (t) => {
  for (const [code, action] of Object.entries({
    ARCHIVE_UNREADABLE: /Name a directory/,
    ARCHIVE_DAMAGED: /`archive check`/,
    ARCHIVE_OTHER: /another/,
  })) {
    const shown = publicError(new ArchiveError(code as keyof typeof archiveErrors, 'why'), 'id-1')
    t.match(shown, { status: 503, code: 'AUDIT_ARCHIVE_UNUSABLE', message: /^auditArchive: why\. / })
    t.match(shown.message, action)
  }
  t.end()
})

t.test('a path belongs to the NCMP surface only below its base paths', async (t) => {
  const bases = ['/ncmp', '/ncmpInventory']
  for (const url of ['/ncmp', '/ncmp/v1', '/ncmp?x', '/ncmpInventory/v1/ch?x=/ops'])
    t.equal(surfaceOf(url, bases), 'ncmp')
  for (const url of ['/', '/ncmps', '/ops?x=/ncmp/', '/ncmp2/v1', '']) t.equal(surfaceOf(url, bases), 'own')
})
