import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Connection } from '../raw/socket.ts'
import { authWorld, issuer } from './auth-world.ts'
import { Browser } from './browser.ts'

const auth = authWorld({ timeLimits: { requestMs: 1_500 } })

const numbered = () => Promise.resolve().then(executionAsyncId)

/** While promise hooks are active, every promise has its own async id. */
async function hooksAreActive() {
  const [one, other] = [await numbered(), await numbered()]
  return one !== other
}

/** Since Node 24 AsyncLocalStorage works without promise hooks. */
const usesHooks = Number(process.versions.node.split('.')[0]) < 24

describe.runIf(usesHooks)('promises', () => {
  it('are not slower after requests to the authorization server, also one whose body stalls until its deadline', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await new Browser(auth.world.publicPort).send(
      'POST',
      new URL(`${issuer}/token`),
      form,
      'grant_type=none',
    )
    expect(answer.status).toBe(400)
    expect(await hooksAreActive()).toBe(false)

    const connection = await Connection.open(auth.world.publicPort)
    const { host, pathname } = new URL(`${issuer}/token`)
    const head = [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${form['content-type']}`]
    await connection.send([...head, 'Content-Length: 3', '', 'a='].join('\r\n'))
    expect((await connection.answer()).status).toBe(503)
    await connection.ended
    await expect.poll(hooksAreActive).toBe(false)

    const storage = new AsyncLocalStorage()
    storage.run({}, () => {})
    onTestFinished(() => storage.disable())
    expect(await hooksAreActive()).toBe(true)
  })
})
