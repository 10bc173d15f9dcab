import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import { describe, expect, it } from 'vitest'
import { signature } from '../../../routers/webhooks/deliveries/sign.ts'
import { message, senderTo } from '../../webhooks/sending.ts'
import { program, secret, startExample } from './example-receiver.ts'

const body = (id: string) =>
  JSON.stringify({
    id,
    type: 'training.moved',
    timestamp: '2026-11-20T18:00:00.000Z',
    data: { to: '19:30', by: 'Grüße' },
  })
const line = (id: string) => `2026-11-20T18:00:00.000Z training.moved ${id} {"to":"19:30","by":"Grüße"}`

/** Sends one request with exactly these headers; resolves with the status. */
const request = (
  { url, ca }: { url: string; ca: string },
  headers: OutgoingHttpHeaders,
  text: string,
  method = 'POST',
) =>
  new Promise<number>((resolve, reject) => {
    const sent = https.request(url, { method, headers, ca, agent: false }, (response) => {
      resolve(response.resume().statusCode!)
    })
    sent.on('error', reject).end(text)
  })

describe('the example receiver', () => {
  it('has under 60 lines', () => {
    expect(readFileSync(program, 'utf8').trimEnd().split('\n').length).toBeLessThan(60)
  })

  it('prints each event once, and refuses unverified requests', async () => {
    const example = await startExample()
    const { url } = example
    const sender = senderTo(example)
    const status = async (more: Parameters<typeof message>[1]) => (await sender.send(message(url, more))).status

    expect(await status({ id: 'd1', secret, body: body('e1') })).toBe(204)
    await expect.poll(example.events).toEqual([line('e1')])

    expect(await status({ id: 'd2', secret: null, body: body('e2') })).toBe(401)
    expect(await status({ id: 'd2', secret: 'whsec_another', body: body('e2') })).toBe(401)
    expect(await status({ id: 'd2', secret: `${secret}x`, body: body('e2') })).toBe(401)
    expect(await status({ id: 'd1', secret, body: body('e1') })).toBe(204)
    expect(await status({ id: 'd3', secret, body: `{"x":"${'y'.repeat(1024 * 1024)}"}` })).toBe(413)
    const late = senderTo(example, { now: () => Date.now() - 3_600_000 })
    expect(await late.send(message(url, { id: 'd2', secret, body: body('e2') }))).toMatchObject({ status: 401 })

    // A refused delivery does not count as received.
    expect(await status({ id: 'd2', secret, body: body('e2') })).toBe(204)
    await expect.poll(example.events).toEqual([line('e1'), line('e2')])
  })

  it('requires both the secret and a valid signature', async () => {
    const example = await startExample()
    const now = Math.floor(Date.now() / 1_000)
    const headers = {
      'x-webhook-secret': secret,
      'webhook-id': 'd1',
      'webhook-timestamp': String(now),
      'webhook-signature': signature([secret], 'd1', now, body('e1')),
    }
    const post = (more: Record<string, string>, text = body('e1')) => request(example, { ...headers, ...more }, text)
    expect(await post({ 'x-webhook-secret': 'whsec_another' })).toBe(401)
    expect(await post({ 'webhook-signature': signature(['whsec_another'], 'd1', now, body('e1')) })).toBe(401)
    expect(await post({ 'webhook-id': 'd2' })).toBe(401)
    expect(await post({ 'webhook-timestamp': String(now + 1) })).toBe(401)
    expect(await post({}, body('e2'))).toBe(401)
    expect(await request(example, headers, '', 'GET')).toBe(405)
    expect(await post({})).toBe(204)
    await expect.poll(example.events).toEqual([line('e1')])
  })
})
