import tls from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRawReceiver } from './raw-receiver.ts'
import { selfSigned, startReceiver } from './receiver.ts'
import { ending, message, senderTo, unanswered } from './sending.ts'

const name = 'receiver.example.org'
const resolve = async () => ['127.0.0.1']

const HOUR_MS = 3_600_000
const between = (from: number, to: number) =>
  selfSigned(['localhost'], {
    notBeforeDate: new Date(Date.now() + from * HOUR_MS),
    notAfterDate: new Date(Date.now() + to * HOUR_MS),
  })

describe('the certificate of a receiver', () => {
  it('is verified against the name in the url', async () => {
    const names: unknown[] = []
    const answer = (socket: tls.TLSSocket) => {
      names.push(socket.servername)
      socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    }
    const receiver = ending(await startRawReceiver(answer, { certificate: selfSigned([name]) }))
    const sender = senderTo(receiver, { resolve })
    const { port } = new URL(receiver.url)
    for (const host of [name, `${name}.`, '127.0.0.1']) {
      expect(await sender.send(message(`https://${host}:${port}/`))).toMatchObject({ status: 204 })
    }
    expect(names).toEqual([name, name, false])
  })

  it('is refused for another name', async () => {
    const receiver = ending(await startReceiver({ names: [name] }))
    const result = await senderTo(receiver, { resolve }).send(message(receiver.url('/', 'other.example.org')))
    expect(result).toEqual(unanswered('certificate: ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(receiver.received).toEqual([])
  })

  it('is refused for an address that it does not name', async () => {
    const certificate = selfSigned([name], {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    })
    const receiver = ending(await startReceiver({ certificate }))
    const sender = senderTo(receiver, { resolve })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    expect(await sender.send(message(receiver.url()))).toEqual(unanswered('certificate: ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['that has expired', between(-48, -24), 'CERT_HAS_EXPIRED'],
    ['that is not valid yet', between(24, 48), 'CERT_NOT_YET_VALID'],
  ])('%s is refused', async (_which, certificate, code) => {
    const receiver = ending(await startReceiver({ certificate }))
    expect(await senderTo(receiver).send(message(receiver.url()))).toEqual(unanswered(`certificate: ${code}`))
    expect(receiver.received).toEqual([])
  })

  it.each([
    ['the well-known authorities', async () => undefined],
    ['another authority', async () => (await selfSigned()).cert],
  ])('is refused when it is self-signed and the sender trusts %s', async (_whom, authority) => {
    const receiver = ending(await startReceiver())
    const sender = senderTo(receiver, { ca: await authority() })
    expect(await sender.send(message(receiver.url()))).toEqual(unanswered('certificate: DEPTH_ZERO_SELF_SIGNED_CERT'))
    expect(receiver.received).toEqual([])
  })

  it('is verified even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    onTestFinished(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    })
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    const receiver = ending(await startReceiver({ names: [name] }))
    const untrusting = senderTo(receiver, { ca: undefined })
    expect(await untrusting.send(message(receiver.url()))).toMatchObject({
      error: expect.stringMatching(/^certificate/),
    })
    const misnamed = senderTo(receiver, { resolve })
    const result = await misnamed.send(message(receiver.url('/', 'other.example.org')))
    expect(result).toMatchObject({ error: expect.stringMatching(/^certificate/) })
    expect(receiver.received).toEqual([])
  })

  it('is only accepted over TLS 1.2 or later, even when the defaults of Node.js allow less', async () => {
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls
    onTestFinished(() => void Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }))
    Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' })
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const
    const answer = (socket: tls.TLSSocket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    const receiver = ending(await startRawReceiver(answer, old))
    const { error } = await senderTo(receiver).send(message(receiver.url))
    expect(error).toMatch(/^(?:ERR_SSL_|EPROTO|ECONNRESET)/)
  })
})
