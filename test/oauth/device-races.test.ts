import { beforeAll, describe, expect, it } from 'vitest'
import { startedAround } from '../support/started.ts'
import { authWorld, register, startAuthWorld } from './auth-world.ts'
import { deviceFlow } from './device-world.ts'

const scope = 'svc.me.profile:read'
/** Failed requests for tokens per address. */
const FAILURES = 3

const here = authWorld()
const there = startedAround(() => startAuthWorld({ like: here.world }))
const strict = startedAround(() => startAuthWorld({ like: here.world, tokenFailures: FAILURES }))
let client: string
let nodes: ReturnType<typeof deviceFlow>[]
beforeAll(async () => {
  client = await register(here.world, { devices: true, redirectUris: [] })
  nodes = [deviceFlow(here), deviceFlow(there)]
})

/** Every other request goes to the other node. */
const atOnce = <T>(count: number, work: (node: ReturnType<typeof deviceFlow>) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(nodes[at % 2]!)))
const counted = (values: (string | number)[]) =>
  Object.fromEntries([...new Set(values)].sort().map((one) => [one, values.filter((other) => other === one).length]))

describe('at once on two nodes', () => {
  it('polls of an allowed code: one gets tokens, which stay', async () => {
    const { device_code, user_code } = await nodes[0]!.begin(client, scope)
    await nodes[1]!.allow(user_code, scope, here.world.ids.member, here.world.ids.club)
    const answers = await atOnce(8, (node) => node.poll(client, device_code))
    expect(counted(answers.map(({ status, json }) => json.error ?? status))).toEqual({ 200: 1, invalid_grant: 7 })
    const { json } = answers.find(({ status }) => status === 200)!
    expect((await there.refresh(client, json.refresh_token)).status).toBe(200)
  })

  it('polls of a code that waits: one may wait on, each other adds 5 s', async () => {
    const { device_code } = await nodes[0]!.begin(client, scope)
    const answers = await atOnce(3, (node) => node.poll(client, device_code))
    expect(counted(answers.map(({ json }) => json.error))).toEqual({ authorization_pending: 1, slow_down: 2 })
    const after = async (seconds: number) => {
      for (const { world } of [here, there]) world.advance(seconds)
      return (await nodes[1]!.poll(client, device_code)).json.error
    }
    expect(await after(14)).toBe('slow_down')
    expect(await after(20)).toBe('authorization_pending')
  })

  it('decisions: one holds', async () => {
    const { device_code, user_code } = await nodes[0]!.begin(client, scope)
    const pages = await Promise.all(nodes.map((node) => node.toDecision(user_code, here.world.ids.member)))
    const decisions = [{ decision: 'refuse' }, { decision: 'allow', organisation: here.world.ids.club, scope }]
    const answers = await Promise.all(
      pages.map(([page, browser], at) => nodes[at]!.decideOn(page, browser, decisions[at]!)),
    )
    expect(counted(answers.map(({ status }) => status))).toEqual({ 200: 1, 400: 1 })
    const { status, json } = await nodes[1]!.poll(client, device_code)
    expect(json.error ?? status).toBe(answers[0]!.status === 200 ? 'access_denied' : 200)
  })
})

it('polls of many devices that wait are no failures of their address, and those of a hasty one count for itself', async () => {
  const node = deviceFlow(strict)
  const devices = await Promise.all(Array.from({ length: FAILURES + 2 }, () => node.begin(client, scope)))
  for (const { device_code } of devices) {
    expect((await node.poll(client, device_code)).json.error).toBe('authorization_pending')
  }
  const [hasty, other] = devices
  const errors = []
  // First its address's failures, then its own.
  for (let time = 0; time < 2 * FAILURES + 1; time++) {
    errors.push((await node.poll(client, hasty!.device_code)).json.error)
  }
  expect(counted(errors)).toEqual({ slow_down: 2 * FAILURES, temporarily_unavailable: 1 })
  strict.world.advance(5)
  expect((await node.poll(client, other!.device_code)).json.error).toBe('authorization_pending')
})
