import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import { issuer } from '../oauth/auth-world.ts'
import type { Browser } from '../oauth/browser.ts'
import { Connection } from '../raw/socket.ts'
import { encodePng, makePixels } from '../support/pictures.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import type { PortalWorld } from './portal-world.ts'
import { startPortal } from './portal-world.ts'

let team: PortalWorld
/** Another node, which waits for no body. */
let hasty: World
/** The same, for which each request for tokens is one too many. */
let strict: World
beforeAll(async () => {
  team = await startPortal({ timeLimits: { requestMs: 60_000 } })
  const given = { auth: {}, like: team.world, timeLimits: { requestMs: 1_500 } }
  hasty = await startWorld(given)
  strict = await startWorld({ ...given, tokenFailures: 0 })
})
afterAll(async () => {
  await hasty.close()
  await strict.close()
  await team.world.close()
})

const UPLOAD_BYTES = 158 * 1024
const FORM_BYTES = 20 * 1024
const TOKEN_BYTES = 40 * 1024

const makeRequest = (address: string, type: string, bytes: number, browser?: Browser) => {
  const { host, pathname, origin } = new URL(address)
  const cookie = browser?.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const fields = [`Host: ${host}`, `Origin: ${origin}`, `Content-Type: ${type}`, `Content-Length: ${bytes}`]
  return [`POST ${pathname} HTTP/1.1`, ...fields, ...(cookie ? [`Cookie: ${cookie}`] : []), '', ''].join('\r\n')
}
/** What stalls, its bytes, and how often they count. */
const stalls: [string, number, number, () => string][] = [
  [
    'an upload',
    UPLOAD_BYTES,
    4,
    () => makeRequest(`${team.app}/settings/logo`, 'multipart/form-data; boundary=b', UPLOAD_BYTES, team.asOwner),
  ],
  [
    'a form of the portal',
    FORM_BYTES,
    32,
    () => makeRequest(`${team.app}/settings/details`, 'application/x-www-form-urlencoded', FORM_BYTES, team.asOwner),
  ],
  [
    'a request for tokens',
    TOKEN_BYTES,
    4,
    () => makeRequest(`${issuer}/token`, 'application/x-www-form-urlencoded', TOKEN_BYTES),
  ],
]

/** A connection that has sent all of a body but its last byte. */
async function stalled(world: World, head: string, bytes: number) {
  const connection = await Connection.open(world.publicPort)
  await connection.send(head)
  await connection.send(Buffer.alloc(bytes - 1, 'a'))
  return connection
}

describe.each(stalls)('the body of %s that stalls', (_, bytes, factor, makeHead) => {
  it('holds its share of memory until its client leaves', async () => {
    const { memory } = team.world
    const connection = await stalled(team.world, makeHead(), bytes)
    await expect.poll(() => memory.freeBytes).toBe(BUDGET_BYTES - factor * bytes)
    connection.reset()
    await expect.poll(() => memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('is 503 at the deadline of its request, and its connection and memory end', async () => {
    const connection = await stalled(hasty, makeHead(), bytes)
    const answer = await connection.answer()
    expect(answer.status).toBe(503)
    await connection.ended
    await expect.poll(() => hasty.memory.freeBytes).toBe(BUDGET_BYTES)
  })
})

it('the body of a request for tokens above the limit that stalls is 503 at the deadline, and its connection ends', async () => {
  const [, bytes, , makeHead] = stalls.at(-1)!
  const connection = await stalled(strict, makeHead(), bytes)
  const answer = await connection.answer()
  expect([answer.status, JSON.parse(answer.text).error]).toEqual([503, 'temporarily_unavailable'])
  await connection.ended
  await expect.poll(() => strict.memory.freeBytes).toBe(BUDGET_BYTES)
})

it('a person who holds half of the memory waits, and others do not', async () => {
  const { memory } = team.world
  const makeForm = () => {
    const form = new FormData()
    form.set('version', '99')
    form.set('picture', new Blob([new Uint8Array(encodePng(makePixels(120), { deflateLevel: 0 }))]), 'logo.png')
    return form
  }
  const held = [`person ${team.owner}`, BUDGET_BYTES / 2] as const
  expect(memory.take(...held)).toBe(true)
  const waits = team.asOwner.upload(`${team.app}/settings/logo`, makeForm())
  await expect.poll(() => memory.waiting).toBe(1)
  expect((await team.asColleague.upload(`${team.app}/settings/logo`, makeForm())).status).toBe(409)
  expect(memory.waiting).toBe(1)
  memory.give(...held)
  expect((await waits).status).toBe(409)
})
