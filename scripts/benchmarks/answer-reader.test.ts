import t from 'tap'
import { AnswerReader } from './answer-reader.js'

const sized = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\n{"a":1}'
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n3\r\nabc\r\n0\r\n\r\n'
const empty = 'HTTP/1.1 204 No Content\r\ndate: now\r\n\r\n'

t.test('an answer is whole with its last byte, whatever pieces it comes in', async (t) => {
  for (const text of [sized, chunked, empty]) {
    for (const pieceBytes of [1, 2, 7, text.length]) {
      const answer = new AnswerReader()
      const ends: number[] = []
      for (let at = 0; at < text.length; at += pieceBytes) {
        if (answer.take(Buffer.from(text.slice(at, at + pieceBytes)))) ends.push(at + pieceBytes)
      }
      t.equal(ends.length, 1)
      t.ok((ends[0] ?? 0) >= text.length)
      t.equal(answer.status, text === empty ? 204 : 200)
      if (text === sized) t.equal(answer.bytes, 7)
    }
  }
})

t.test('what a refusal says is kept', async (t) => {
  const answer = new AnswerReader()
  t.notOk(answer.take(Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nno')))
  t.ok(answer.take(Buffer.from('ne')))
  t.equal(answer.status, 404)
  t.equal(answer.shown, 'none')
})
