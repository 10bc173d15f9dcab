import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { developmentKey, mintToken } from '../../../server/tokens/development.ts'
import { command, dataDirectory, send } from '../../process/service.ts'
import { chance, seed } from '../../support/chance.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { openNode } from './killed-node.ts'

const WRITERS = 6
/** A member has at most 10,000 keys. */
const WRITES = times(1_500, 150)
const scope = 'svc.apps.storage:read svc.apps.storage:write'

const ends: (() => Promise<void>)[] = []
const atEnd = (end: () => Promise<void>) => void ends.unshift(end)
afterAll(async () => {
  for (const end of ends) await end()
})

it(`conditional writes that are repeated with their Idempotency-Key after kills of two nodes count once (seed ${seed})`, {
  timeout: 1_200_000,
}, async () => {
  const env = { DATABASE_URL: await emptyDatabase(atEnd), DATA_DIR: await dataDirectory(atEnd), SECRETS_KEY }
  expect(await command('seed', [], env).ended).toMatchObject({ code: 0 })
  await query(env.DATABASE_URL, `UPDATE "Client" SET environment = 'sandbox'`)
  const claims = { organisation: 'riverside', member: 'anna', client: 'trainer-app', scope, expiresInSeconds: 7_200 }
  const authorization = `Bearer ${await mintToken(await developmentKey(env.DATA_DIR), claims)}`
  const nodes = [await openNode(env, atEnd), await openNode(env, atEnd)]
  let turn = 0
  let repeated = 0

  /** Sends the request to the nodes in turn, until one answers. */
  const once = async (key: string, method: string, path: string, body?: unknown, conditions: object = {}) => {
    const host = path === '/batch' ? 'sync.localhost' : 'apps.localhost'
    const headers = { host, authorization, 'idempotency-key': key, ...conditions }
    for (;;) {
      const { port } = nodes[turn++ % nodes.length]!
      const answer = await send(port(), method, `/v1${path}`, { headers, body }).catch(() => undefined)
      if (answer && answer.status !== 503) return answer
      repeated++
      await pause(20)
    }
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
  const draw = chance('repeated')
  const kill = async () => {
    let kills = 0
    for (; writing > 0; kills++) {
      await pause(draw(1_500))
      await nodes[draw(2)]!.kill()
    }
    return kills
  }
  const [kills] = await Promise.all([kill(), ...Array.from({ length: WRITERS }, (_, writer) => write(writer))])
  expect(kills).toBeGreaterThan(0)
  expect(repeated).toBeGreaterThan(0)
  const [stored] = await query(
    env.DATABASE_URL,
    `SELECT (SELECT count(*)::int FROM "StorageRequest") AS keys,
      (SELECT count(*)::int FROM "StorageEntry" WHERE collection = 'counters' AND value = '"last"') AS entries`,
  )
  expect(stored).toEqual({ keys: WRITERS * (WRITES + 1), entries: WRITERS })
})
