import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuthWorld } from './auth-world.ts'
import { issuer, startAuthWorld } from './auth-world.ts'
import { Browser } from './browser.ts'

let it_: AuthWorld
beforeAll(async () => {
  it_ = await startAuthWorld()
})
afterAll(() => it_.world.close())

const numbered = () => Promise.resolve().then(executionAsyncId)

/** Promises have numbers of their own where hooks watch them all. */
async function areWatched() {
  const [one, other] = [await numbered(), await numbered()]
  return one !== other
}

/** From Node 24 on a store of a request needs no hooks. */
const storesWatch = Number(process.versions.node.split('.')[0]) < 24

describe.runIf(storesWatch)('the promises of a process', () => {
  it('cost after a request to the authorization server what they did before', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await new Browser(it_.world.publicPort).send(
      'POST',
      new URL(`${issuer}/token`),
      form,
      'grant_type=none',
    )
    expect(answer.status).toBe(400)
    expect(await areWatched()).toBe(false)

    new AsyncLocalStorage().run({}, () => {})
    expect(await areWatched()).toBe(true)
  })
})
