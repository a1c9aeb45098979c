import t from 'tap'
import { advertisedUrl } from './advertised-url.js'

const cases = [
  { set: '', url: 'http://127.0.0.1:8080', expected: 'http://127.0.0.1:8080' },
  { set: '', url: 'http://0.0.0.0:8080', expected: 'http://pod-1:8080' },
  { set: '', url: 'http://[::]:8080', expected: 'http://pod-1:8080' },
  { set: 'https://front/a', url: 'http://0.0.0.0:8080', expected: 'https://front/a' },
]
for (const { set, url, expected } of cases) {
  t.test(`set to "${set}" and listening at ${url}, others are told ${expected}`, async (t) => {
    t.equal(advertisedUrl({ advertisedUrl: set }, url, 'pod-1'), expected)
  })
}
