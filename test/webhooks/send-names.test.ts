import { describe, expect, it } from 'vitest'
import { message, senderTo, unanswered } from './sending.ts'

const failing = (code: string | undefined) => async () => {
  throw Object.assign(new Error('query A receiver.example.org'), { code })
}

describe('a name that cannot be resolved', () => {
  it.each([
    ['ENOTFOUND', 'name not found'],
    ['ENODATA', 'name not found'],
    ['EBADNAME', 'name not found'],
    ['ETIMEOUT', 'name timeout'],
    ['ECANCELLED', 'name timeout'],
    ['ESERVFAIL', 'name lookup: ESERVFAIL'],
    ['EAI_AGAIN', 'name lookup: EAI_AGAIN'],
    [undefined, 'name lookup failed'],
    ['receiver.example.org', 'name lookup failed'],
  ])('with code %s has the error %j', async (code, error) => {
    const sender = senderTo({ ca: '' }, { resolve: failing(code) })
    expect(await sender.send(message('https://receiver.example.org/'))).toEqual(unanswered(error))
  })

  it('times out', async () => {
    const sender = senderTo({ ca: '' }, { resolve: () => new Promise(() => {}), timeouts: { connectMs: 200 } })
    expect(await sender.send(message('https://receiver.example.org/'))).toEqual(unanswered('name timeout'))
  })

  it('does not reject, even when the resolver throws', async () => {
    const resolve = () => {
      throw new Error('https://receiver.example.org/?secret')
    }
    const { error } = await senderTo({ ca: '' }, { resolve }).send(message('https://receiver.example.org/'))
    expect(error).toBe('invalid request: Error')
  })
})
