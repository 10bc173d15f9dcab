import { expect, it } from 'vitest'
import { seed } from '../../support/chance.ts'
import { query } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import { demoNodes } from './killed-node.ts'

const WRITERS = 6
/** A member has at most 10,000 keys. */
const WRITES = times(1_500, 150)

const atEnd = endingAfterAll()

it(`conditional writes that are repeated with their Idempotency-Key after kills of two nodes count once (seed ${seed})`, async () => {
  const nodes = await demoNodes(atEnd)
  let repeated = 0

  const once = (key: string, method: string, path: string, body?: unknown, conditions: object = {}) => {
    const host = path === '/batch' ? 'sync.localhost' : 'apps.localhost'
    const headers = { 'idempotency-key': key, ...conditions }
    return nodes.call(method, path, { host, headers, body }, () => repeated++)
  }

  let writing = WRITERS
  const write = async (writer: number) => {
    const at = { collection: 'counters', key: `w${writer}` }
    const path = `/storage/${at.collection}/${at.key}`
    let etag: string | undefined
    for (let n = 1; n <= WRITES; n++) {
      const key = `${writer}-${n}`
      if (n % 10 === 0) {
        const removed = await once(key, 'DELETE', path, undefined, { 'if-match': etag })
        expect(removed.status, key).toBe(204)
        etag = undefined
      } else if (n % 3 === 0 && etag) {
        const answer = await once(key, 'POST', '/batch', {
          operations: [{ op: 'put', ...at, value: n, ifMatch: etag }],
        })
        expect(answer.status, key).toBe(200)
        etag = answer.body.results[0].etag
      } else {
        const conditions = etag ? { 'if-match': etag } : { 'if-none-match': '*' }
        const answer = await once(key, 'PUT', path, { value: n }, conditions)
        expect(answer, key).toMatchObject({ status: 200, body: { value: n } })
        etag = answer.headers.etag as string
      }
    }
    const last = await once(`${writer}-last`, 'PUT', path, { value: 'last' }, etag ? { 'if-match': etag } : {})
    expect(last.status).toBe(200)
    writing--
  }
  const killing = nodes.killUntil(() => writing === 0, 'repeated', 1_500)
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  const kills = await killing
  expect(kills).toBeGreaterThan(0)
  expect(repeated).toBeGreaterThan(0)
  const [stored] = await query(
    nodes.databaseUrl,
    `SELECT (SELECT count(*)::int FROM "StorageRequest") AS keys,
      (SELECT count(*)::int FROM "StorageEntry" WHERE collection = 'counters' AND value = '"last"') AS entries`,
  )
  expect(stored).toEqual({ keys: WRITERS * (WRITES + 1), entries: WRITERS })
})
