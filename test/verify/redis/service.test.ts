import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { describe, expect, it } from 'vitest'
import type { Service } from '../../process/service.ts'
import { dataDirectory, send, start, until } from '../../process/service.ts'
import { migratedDatabase, query } from '../../support/databases.ts'
import { headersOfAnna, seedDemo } from '../demo.ts'
import { hasRedis, skipReason, startRedis } from './redis-server.ts'

/** Settings for nodes of one service with the demo data, whose team is a hobby team. */
async function settings() {
  const DATABASE_URL = await migratedDatabase()
  const DATA_DIR = await dataDirectory()
  await seedDemo(DATABASE_URL)
  await query(DATABASE_URL, `UPDATE "Team" SET level = 'hobby'`)
  const SECRETS_KEY = randomBytes(32).toString('base64')
  const bearer = await headersOfAnna(DATA_DIR, { client: 'trainer-app' })
  return { env: { DATABASE_URL, DATA_DIR, SECRETS_KEY, WEBHOOK_WORKER: 'false' }, bearer }
}

const readLines = (service: Service) =>
  service
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
const readWarnings = (service: Service) =>
  readLines(service)
    .filter(({ level }) => level >= 40)
    .map(({ msg }) => msg as string)
const AWAY = 'Redis is out of reach: this process counts limits by itself'
const BACK = 'limits are counted in Redis'
const isCounting = (service: Service) =>
  until(
    async () => readLines(service).map(({ msg }) => msg),
    (found) => found.includes(BACK),
  )
/** It listens before Redis has refused it. */
const countsAlone = (service: Service) =>
  until(
    async () => readWarnings(service),
    (found) => found.includes(AWAY),
  )

const root = (service: Service, headers: Record<string, string>) =>
  send(service.port, 'GET', '/v1', { headers: { host: 'apps.localhost', ...headers } })

/** How many answers have each status. */
async function statuses(answers: Promise<{ status: number }>[]) {
  const counts: Record<number, number> = {}
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe.skipIf(!hasRedis)(`nodes with REDIS_URL${skipReason}`, () => {
  it('have one count of requests, invalid tokens, failed requests for tokens, and authorization requests', async () => {
    let counted = await countTogether()
    // Redis did not get a processor for 45 ms, so that nodes had to count alone: the machine is busy.
    for (let again = 0; counted.wasAway && again < 2; again++) counted = await countTogether()
    const { wasAway, first, refused, ...counts } = counted
    expect(wasAway).toBe(false)
    expect(first).toMatchObject({ 'ratelimit-policy': '"team";q=60;w=60', ratelimit: '"team";r=59;t=60' })
    expect(counts).toEqual({
      requests: { 200: 59, 429: 141 },
      guesses: { 401: 100, 429: 60 },
      tokens: { 400: 60, 429: 40 },
      authorizations: { 400: 300, 429: 60 },
    })
    expect(refused.ratelimit).toBe(`"team";r=0;t=${refused['retry-after']}`)
    expect(Number(refused['retry-after'])).toBeLessThanOrEqual(60)
  })

  /** Answers of four nodes that are asked at once, by status. */
  async function countTogether() {
    const [redis, { env, bearer }] = await Promise.all([startRedis(), settings()])
    const given = { ...env, REDIS_URL: redis.url, NODES: '4' }
    const nodes = [await start(given), ...(await Promise.all([start(given), start(given), start(given)]))]
    const atEach = (count: number, ask: (node: Service, n: number) => Promise<{ status: number }>) =>
      statuses(nodes.flatMap((node, at) => Array.from({ length: count }, (_, n) => ask(node, at * count + n))))
    const guess = (node: Service, n: number) => root(node, { authorization: `Bearer guess${n}` })
    const host = 'auth.localhost'
    const ask = (node: Service) =>
      send(node.port, 'POST', '/v1/oauth/token', { headers: { host }, body: { grant_type: 'authorization_code' } })
    const authorize = (node: Service) => send(node.port, 'GET', '/v1/oauth/authorize', { headers: { host } })

    const { headers: first } = await root(nodes[0]!, bearer)
    const requests = await atEach(50, (node) => root(node, bearer))
    const { headers: refused } = await root(nodes[1]!, bearer)
    const guesses = await atEach(40, guess)
    const tokens = await atEach(25, ask)
    const authorizations = await atEach(90, authorize)
    const wasAway = nodes.flatMap(readWarnings).includes(AWAY)
    await Promise.all(nodes.map((node) => node.stop()))
    return { wasAway, first, refused, requests, guesses, tokens, authorizations }
  }

  it('do not repeat a wrong password in the log', async () => {
    const [redis, { env, bearer }] = await Promise.all([startRedis({ password: 'right' }), settings()])
    const node = await start({ ...env, REDIS_URL: `redis://default:canary@127.0.0.1:${redis.port}` })
    await countsAlone(node)
    expect(readLines(node).find(({ msg }) => msg === AWAY).err.message).toContain('WRONGPASS')
    expect((await root(node, bearer)).status).toBe(200)
    await node.stop()
    expect(node.stdout() + node.stderr()).not.toContain('canary')
  })

  it('count in it over TLS (rediss), and nowhere else when its certificate is not trusted', async () => {
    const { env, bearer } = await settings()
    const [cert, key] = [join(env.DATA_DIR, 'redis.pem'), join(env.DATA_DIR, 'redis.key')]
    const pair = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    })
    await Promise.all([writeFile(cert, pair.cert), writeFile(key, pair.private)])
    const redis = await startRedis({ tls: { cert, key } })
    const REDIS_URL = redis.url
    const trusting = await start({ ...env, REDIS_URL, NODE_EXTRA_CA_CERTS: cert })
    await isCounting(trusting)
    expect((await root(trusting, bearer)).headers.ratelimit).toBe('"team";r=59;t=60')
    expect(await redis.cli('keys', 'member-apps:limit:hobby:*')).not.toBe('')

    const wary = await start({ ...env, REDIS_URL })
    await countsAlone(wary)
    expect((await root(wary, bearer)).headers.ratelimit).toBe('"team";r=59;t=60')
  })
})
