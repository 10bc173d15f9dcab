import { describe, expect, it } from 'vitest'
import { MAX_SEARCHES } from '../../server/search/serve.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { table } from '../support/markdown-table.ts'
import { send } from '../support/request.ts'

const localUrls = localUrlsAt('http://localhost:3000')
const auth = authWorld({ localUrls })

interface Hit {
  title: string
  heading: string
  excerpt: string[]
  url: string
}

const get = (path: string, host = 'apps.test', method = 'GET', headers = {}) =>
  send(auth.world.publicPort, method, path, { headers: { host, ...headers } })
const toPath = (question: string, address = '/docs/search') => `${address}?q=${encodeURIComponent(question)}`
const find = async (question: string, host?: string): Promise<Hit[]> =>
  (await get(toPath(question, '/docs/search.json'), host)).body.hits

/** Each with one of the places that answer it; of a host of the tests, errors are at that of their API. */
const questions = table<'question' | 'place'>(`
| question                   | place                                     |
|----------------------------|-------------------------------------------|
| how do I page              | /docs/sync#page                           |
| rate limit                 | /docs/apps#limits                         |
| verify webhook signature   | /docs/webhooks#verify                     |
| refresh token expired      | /docs/apps#when-a-token-expires           |
| 429                        | /docs/troubleshooting#requests-get-429    |
| quota                      | /docs/apps#limits                         |
| live updates               | /docs/sdk#live-collections                |
| python                     | /docs/apps#other-languages                |
| mobile app                 | /docs/apps#mobile-apps                    |
| mobile app                 | /docs/react-native                        |
| mobile app                 | /docs/flutter                             |
| react                      | /docs/react                               |
| next                       | /docs/react#nextjs-with-the-tokens-on-the-server |
| nextjs                     | /docs/react#nextjs-with-the-tokens-on-the-server |
| expo                       | /docs/react-native                        |
| react native               | /docs/react-native                        |
| flutter                    | /docs/flutter                             |
| dart                       | /docs/flutter                             |
| CORS                       | /docs/apps#cors                           |
| delete user                | /docs/member-data#erase                   |
| test data                  | /docs/portal#test-club                    |
| idempotency                | /docs/apps#lost-answers                   |
| pagination limit           | /docs/sync#page                           |
| client secret rotate       | /docs/apps#replace-a-secret-or-key        |
| PKCE                       | /docs/apps#signing-a-member-in            |
| webhook retries            | /docs/apps#webhooks                       |
| upload size                | /docs/apps#limits                         |
| time zone                  | /docs/apps#me                             |
| sandbox                    | /docs/portal#test-club                    |
| logout                     | /docs/apps#signing-a-member-in            |
| ETag conflict              | /docs/apps#concurrent-writers             |
| event types                | /docs/events#catalogue                    |
| backup                     | /docs/backups                             |
| 401                        | http://apps.test/v1/docs/errors#status-401 |
| scopes                     | /docs/apps#signing-a-member-in            |
| docker                     | /docs/deployment#one-machine-docker-compose |
| node version               | /docs/running#which-node                  |
| timeout                    | /docs/troubleshooting#requests-get-503    |
| unsubscribe                | http://notify.test/v1/docs#webhookDelete  |
| localhost redirect         | /docs/apps#signing-a-member-in            |
| request id                 | /docs/apps#errors                         |
| log in                     | /docs/sdk#sign-a-member-in                |
| how long is a token valid  | /docs/apps#when-a-token-expires           |
| service account            | /docs/sync#the-app-itself                 |
| SMTP                       | /docs/settings#SMTP_URL                   |
| TOKEN_ISSUER               | /docs/settings#TOKEN_ISSUER               |
| pgboun                     | /docs/database#pgbouncer                  |
| webhok signatur            | /docs/webhooks#verify                     |
| invite team member         | /docs/clients#invite-people-to-a-team     |
| client approve             | /docs/clients#approve-a-request           |
| entryChanged               | http://apps.test/v1/docs/errors#entryChanged |
| get groups                 | http://apps.test/v1/docs#meGroups         |
| submit quiz                | http://lms.test/v1/docs#quizzesSubmit     |
| svc.apps.storage:write     | http://apps.test/v1/docs#storagePut       |
`)

describe('the search', () => {
  it.each(questions)('answers "$question" among the first three: $place', async ({ question, place }) => {
    const urls = (await find(question)).map(({ url }) => url)
    expect(urls.slice(0, 3)).toContain(place)
  })

  it('leads to what is there', async () => {
    const hits = await Promise.all(questions.map(({ question }) => find(question)))
    const urls = new Set(hits.flat().map(({ url }) => url))
    const texts = new Map<string, string>()
    for (const url of urls) {
      const { host, pathname, hash } = new URL(url, 'http://apps.test')
      const key = `${host} ${pathname}`
      if (!texts.has(key)) {
        const { status, text } = await get(pathname, host)
        expect([key, status]).toEqual([key, 200])
        texts.set(key, text)
      }
      if (hash !== '') expect(texts.get(key), url).toContain(` id="${decodeURIComponent(hash.slice(1))}"`)
    }
  })

  it('leads, at localhost, to the references there', async () => {
    const [hit] = await find('submit quiz', 'localhost:3000')
    expect(hit!.url).toBe(`${localUrls.lms}/docs#quizzesSubmit`)
  })

  it('has at most 12 results with an excerpt, in which every second part is a word of the question', async () => {
    const hits = await find('storage quota')
    expect(hits).toHaveLength(12)
    const [{ excerpt }] = hits as [Hit]
    expect(excerpt.join('').length).toBeGreaterThan(60)
    expect(excerpt.join('').length).toBeLessThan(240)
    const marked = excerpt.filter((_, at) => at % 2 === 1)
    expect(marked.join(' ').toLowerCase()).toContain('quota')
  })

  it.each(['', '   ', 'the of', '%%%', '"', '\u0000', 'zzqqxxyy'])('finds nothing for %j', async (question) => {
    const page = await get(toPath(question))
    expect([page.status, await find(question)]).toEqual([200, []])
    expect(page.text).not.toContain('<ol class="hits">')
  })

  it.each(['/docs/search', '/docs/search?', '/docs/search?q=%ff%zz', '/docs/search?q=a&q=b'])(
    'takes any query: %s',
    async (path) => {
      expect((await get(path)).status).toBe(200)
    },
  )

  it('reads the first 100 characters', async () => {
    const long = `quota ${'😀'.repeat(200)} webhook`
    const { text } = await get(toPath(long))
    expect(text).toContain(`value="quota ${'😀'.repeat(94)}"`)
    expect(await find(long)).toEqual(await find('quota'))
  })
})

describe('the page of the search', () => {
  it('shows text as text', async () => {
    const { text } = await get(toPath('<script>alert(1)</script> "quota" \'x\''))
    expect(text).not.toMatch(/<script>|alert\(1\)<\/script>/)
    expect(text).toContain('value="&lt;script&gt;alert(1)&lt;/script&gt; &quot;quota&quot; &#39;x&#39;"')
  })

  it('has 20 results with marked words, and the question in its field', async () => {
    const { text, headers } = await get(toPath('rate limit'))
    expect(text.match(/<li><a href="[^"]*">[^<]* <span>[^<]*<\/span><\/a>/g)).toHaveLength(20)
    expect(text).toMatch(/<p>[^<]*(?:<mark>\w+<\/mark>[^<]*)+<\/p>/)
    expect(text).toContain('20 results for <b><bdi>rate limit</bdi></b>')
    expect(text).toMatch(/<form role="search" method="get" action="\/docs\/search">/)
    expect(text).toContain('name="q" value="rate limit" maxlength="100"')
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, max-age=60',
      'content-security-policy': expect.stringContaining("form-action 'self'"),
    })
  })

  it('says that nothing is found, and where to look', async () => {
    const { text } = await get(toPath('zzqqxxyy'))
    expect(text).toContain('Nothing found for <b><bdi>zzqqxxyy</bdi></b>.')
    expect(text).toContain('href="http://apps.test/v1/docs/errors"')
  })

  it.each(['plain.test', 'apps.test', 'lms.test', 'notify.test', 'auth.test', 'localhost:3000'])(
    'is at every host: %s',
    async (host) => {
      const [page, list] = await Promise.all([get(toPath('quota'), host), find('quota', host)])
      expect([page.status, list[0]!.url]).toEqual([200, '/docs/apps#limits'])
    },
  )

  it.each(['apps.test', 'lms.test', 'notify.test', 'sync.test'])('is asked by the reference of %s', async (host) => {
    expect((await get('/v1/docs', host)).text).toContain('method="get" action="/docs/search"')
  })
})

describe.each(['/docs/search', '/docs/search.json'])('%s', (address) => {
  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is 405 for %s', async (method) => {
    expect(await get(toPath('quota', address), 'notify.test', method)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    })
  })

  it('has HEAD', async () => {
    const [whole, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => get(toPath('quota', address), 'lms.test', method)),
    )
    expect([head!.status, head!.text, head!.headers['content-length']]).toEqual([
      200,
      '',
      whole!.headers['content-length'],
    ])
  })
})

it('the search is counted by network: 429 above the limit, for this network alone', async () => {
  const [flood, other] = [auth.newBrowser(), auth.newBrowser()]
  flood.localAddress = '127.0.0.91'
  other.localAddress = '127.0.0.92'
  const address = 'http://lms.test/docs/search.json?q='
  for (let n = 0; n < MAX_SEARCHES; n++) expect((await flood.get(address)).status).toBe(200)
  const [page, list] = [await flood.get('http://lms.test/docs/search?q=quota'), await flood.get(address)]
  expect([page.status, page.headers['retry-after'], page.headers['content-type']]).toEqual([
    429,
    '60',
    'text/html; charset=utf-8',
  ])
  expect(page.headers['cache-control']).toBe('no-store')
  expect([list.status, list.headers['retry-after']]).toEqual([429, '60'])
  expect((await other.get(address)).status).toBe(200)
})
