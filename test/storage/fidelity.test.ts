import { afterAll, beforeAll, describe, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { expectBytes, startStorage } from './exact.ts'
import { few, values } from './values.ts'

/** Page size, small enough for many pages. */
const PAGE = 7

/** All values for one scope; in `npm test` without that of 9 MB. */
const whole = values.filter(([, text]) => text.length < times(Number.POSITIVE_INFINITY, 1_000_000))
const scoped = [
  { scope: 'org', own: whole },
  { scope: 'user', own: few },
] as const

// Each scope has a tenant of its own, whose quota holds all values together.
describe.each(scoped)('a value in scope $scope', ({ scope, own }) => {
  let storage: Awaited<ReturnType<typeof startStorage>>
  beforeAll(async () => {
    storage = await startStorage()
  })
  afterAll(() => storage.world.close())

  const place = { collection: 'alone', key: 'k', scope }

  const expectEntry = async (entry: string, text: string) => {
    expectBytes((await storage.rest('GET', `alone/k?scope=${scope}`)).bytes, entry)
    expectBytes((await storage.rest('GET', `alone?scope=${scope}`)).bytes, `{"items":[${entry}],"total":1}`)
    await storage.expectStored(place, text)
  }

  it.each(own)('is returned byte for byte: %s', async (_, text) => {
    await expectEntry((await storage.put(place, text)).entry, text)
  })

  it.each(few)('is returned byte for byte after it was replaced and restored: %s', async (_, text) => {
    await storage.put(place, text)
    await expectEntry((await storage.put(place, '{"other":[1.0]}')).entry, '{"other":[1.0]}')
    const body = `\ufeff \t{\r\n "\\u0076alue"\n: \t\r\n ${text} \n\t\r} \n`
    await expectEntry((await storage.put(place, text, body)).entry, text)
  })

  it('is returned byte for byte on every page of a list', async () => {
    await storage.rest('DELETE', `alone/k?scope=${scope}`)
    const entries: { entry: string; typed: string }[] = []
    const pageOf = (form: 'entry' | 'typed', offset: number, size: number) =>
      `{"items":[${entries.slice(offset, offset + size).map((one) => one[form])}],"total":${own.length}}`
    // Written in reverse, because lists sort by key.
    for (const [i, [, text]] of [...own.entries()].reverse()) {
      const key = `v${String(i).padStart(3, '0')}`
      entries.unshift(await storage.put({ collection: 'all', key, scope }, text))
    }
    for (let offset = 0; offset < own.length; offset += PAGE) {
      expectBytes(
        (await storage.rest('GET', `all?scope=${scope}&limit=${PAGE}&offset=${offset}`)).bytes,
        pageOf('entry', offset, PAGE),
      )
      const list = await storage.query('storage.list', { collection: 'all', scope, limit: PAGE, offset })
      expectBytes(list.bytes, `{"result":{"data":${pageOf('typed', offset, PAGE)}}}`)
    }
    const whole = await storage.rest('GET', `all?scope=${scope}&limit=200`)
    expectBytes(whole.bytes, pageOf('entry', 0, own.length))
  })
})
