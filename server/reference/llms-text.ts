import { sections } from '../../rest-facade/sections.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { BaseUrls } from '../http/match-route.ts'
import { languages } from './languages.ts'

/** A page of the documentation. */
export interface Guide {
  title: string
  about: string
  address: string
}

interface Given {
  urls: BaseUrls
  issuer?: string | undefined
  guides: readonly Guide[]
}

/** `/llms.txt` (llmstxt.org): a summary for programs that write apps. */
export const llmsText = ({ urls, issuer, guides }: Given) => `# Member apps API

> Four REST APIs through which apps read the data of club members, store and sync their own, submit quizzes and set webhooks.

## APIs

${sectionNames.map((name) => `- [${name}](${urls[name]}/openapi.json): OpenAPI 3.1. ${sections[name].description} Base address ${urls[name]}`).join('\n')}
- [Reference](${urls.apps}/docs): the same for reading, with a search, and each call in ${Object.values(languages).join(', ')}
- [Errors](${urls.apps}/docs/errors): each body, its cause, and its remedy

## Documentation

${guides.map(({ title, about, address }) => `- [${title}](${new URL(address, urls.apps).href}): ${about}`).join('\n')}

## Tokens

${issuer ? `OAuth 2.0 authorization code with PKCE, public clients (apps with a server may have a secret or keys), issuer ${issuer}; metadata: ${toMetadataUrl(issuer)}` : "Access tokens (JWT) of the platform's OAuth server, which its operator names."}
Send \`Authorization: Bearer <token>\`. A token is for one organisation: a club (apps, sync), an academy (lms) or a provider (notify).

## Rules that code gets wrong

- Each API has its own host. In apps an error is {"detail"}, but 401, 429 and 503 are {"error":{"code","message","request_id"}}, like all errors of the others.
- A refresh token works once: store the new one, and renew in one place at a time. A second use ends the sign-in.
- On 429 and 503 wait for the seconds of Retry-After. The limit is the team's, not the token's; after a 503 the token is still valid.
- To read a whole collection, use sync, whose pages begin after a key. Pages by offset (apps) may miss or repeat entries beside writers.
- To change a stored entry, send its ETag as If-Match; on 412 read it again. If-None-Match: * only creates.
- Send Idempotency-Key with a quiz result, a conditional write and a batch, and the same key when that request is repeated.
`

function toMetadataUrl(issuer: string) {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname}`
}
