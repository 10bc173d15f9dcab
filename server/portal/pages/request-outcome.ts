import { plainAddress } from '../../../routers/developer/activity/sign-in-texts.ts'
import { fact } from '../../browser/look/components/facts.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'

type Listed = Awaited<ReturnType<Developer['requests']['get']>>
export type Logged = Listed['items'][number]

export interface Around {
  team: { id: string }
  /** The address of the error catalogue. */
  catalogue: string
  registrations: Listed['registrations']
}

const SIGN_IN_HELP = '/docs/troubleshooting#a-library-reports-an-error'
/** Registered redirect URIs beside one that is not; the client's page has all. */
const MAX_SHOWN = 3

const codes = (texts: readonly string[], between: Html) =>
  texts.map((text, at) => html`${at > 0 && between}<code>${text}</code>`)

/** What became of a request, and of a failed one the remedy. */
export function outcome(request: PageRequest, item: Logged, around: Around) {
  const { w } = request
  const { error, message, sent } = item
  if (error === null) return html`<span class="hint">${w.requestsOk}</span>`
  const help = sent ? SIGN_IN_HELP : `${around.catalogue}#${error}`
  return html`${sent && html`<code>${error}</code> `}<span lang="en">${message ?? error}</span> <a href="${help}">${w.remedy}<span class="visually-hidden"> ${error}</span></a>
${sent && comparison(request, item, sent, around)}`
}

/** What a sign-in sent and, where it differs, what its client has registered. */
function comparison(
  { w, at }: PageRequest,
  { client }: Logged,
  { redirectUri, scopes }: NonNullable<Logged['sent']>,
  { team, registrations }: Around,
) {
  if (redirectUri === null && scopes.length === 0) return null
  const registered = registrations[client]
  const uris = registered?.redirectUris ?? []
  const isElsewhere = registered && redirectUri !== null && !uris.some((uri) => plainAddress(uri) === redirectUri)
  const missing = registered ? scopes.filter((scope) => !registered.scopes.includes(scope)) : []
  const linkTo = (section: 'sign-in' | 'scopes') =>
    html`<a href="${at('teams', team.id, 'clients', client, section)}">${w.clientSections[section]}</a>`
  const more = uris.length - MAX_SHOWN
  return html`<dl>${redirectUri !== null && fact(w.redirectUriSent, html`<code>${redirectUri}</code>`)}
${
  isElsewhere &&
  fact(
    w.registeredNow,
    html`${uris.length === 0 ? w.nothingRegistered : codes(uris.slice(0, MAX_SHOWN), html`<br>`)}${more > 0 && html`<br>${w.andMore(more)}`} ${linkTo('sign-in')}`,
  )
}
${scopes.length > 0 && fact(w.scopesSent, html`${codes(scopes, html` `)}`)}
${missing.length > 0 && fact(w.scopesMissing, html`${codes(missing, html` `)} ${linkTo('scopes')}`)}</dl>`
}
