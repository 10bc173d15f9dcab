import { decodeJwt } from 'jose'
import { parseUrl } from '../../../prisma/parse-url.ts'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { readForm } from '../../browser/forms.ts'
import { preferLanguages } from '../../browser/language.ts'
import { readFullName } from '../../browser/login/persons.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect, sendMessage } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { findApp } from '../consents/app-views.ts'
import { isPostLogoutUri } from '../consents/authorize-scopes.ts'
import { parseQuery, QUERY_TOO_LONG } from '../endpoints/request-parameters.ts'
import { routes } from '../engine/routes.ts'
import type { PageOptions } from './page-options.ts'
import { endSessionPage } from './views/end-session.ts'

/** Why a request is refused, for the developers of its app. */
class Wrong extends Error {}

/**
 * Sign-out at an app's request (OpenID Connect RP-Initiated Logout): the member is asked, and returns to an address that the app
 * has registered. The apps that they have allowed keep their access.
 */
export function endSession({ db, provider, pages: { path, readSession } }: PageOptions) {
  /** A document's client has no address to return to: nothing is read for it. */
  const findClient = async (id: string) =>
    isPostgresText(id) && !isDocumentAddress(id) ? provider().Client.find(id) : undefined

  /** The client, and where to return to; null without an address. Throws Wrong. */
  const findReturn = async (search: string) => {
    const query = parseQuery(search)
    if (!query) throw new Wrong(QUERY_TOO_LONG)
    const [hint, given, uri, state] = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'].map((name) =>
      query.get(name),
    )
    // Neither name is proved, and the member is asked: whether the ID token is valid makes no difference.
    const client = given ? await findClient(given) : await findClient(readAudience(hint ?? '') ?? '')
    if (given && !client) throw new Wrong('client_id names no client')
    if (!uri) return { query, id: client?.clientId ?? null, url: null }
    if (!client) throw new Wrong('post_logout_redirect_uri needs client_id, or an id_token_hint of the client')
    const url = isPostLogoutUri(client, uri) ? parseUrl(uri) : null
    if (!url) throw new Wrong('post_logout_redirect_uri is not registered for this client')
    if (state) url.searchParams.set('state', state)
    return { query, id: client.clientId, url }
  }
  const leave = (ctx: StepContext, url: URL | null) =>
    url ? redirect(ctx, url.href) : sendMessage(ctx, 'signedOut', 200)

  const answering = (respond: (ctx: StepContext) => Promise<void>) => (ctx: StepContext) =>
    respond(ctx).catch((error) => {
      if (!(error instanceof Wrong)) throw error
      sendMessage(ctx, 'requestWrong', 400, error.message)
    })

  return {
    get: answering(async (ctx) => {
      const { search } = ctx.state
      preferLanguages(ctx, new URLSearchParams(search).get('ui_locales'))
      const { query, id, url } = await findReturn(search)
      const { person } = await readSession(ctx)
      const member = person === undefined ? null : await readFullName(db, person)
      if (member === null) return leave(ctx, url)
      const app = id === null ? null : await findApp(db, id)
      // It is long, and the form has no need of it.
      query.delete('id_token_hint')
      if (id !== null) query.set('client_id', id)
      sendPage(
        ctx,
        endSessionPage({ ...pageContext(ctx), action: `${path}${routes.end_session}`, member, app, query: `${query}` }),
      )
    }),
    confirm: answering(async (ctx) => {
      const form = await readForm(ctx)
      const { url } = await findReturn(form.get('query') ?? '')
      const decision = form.get('decision')
      if (decision === 'stay') return redirect(ctx, url?.href ?? `${path}/connected`)
      if (decision !== 'end') throw errors.requestInvalid()
      await (await readSession(ctx)).signOut()
      leave(ctx, url)
    }),
  }
}

function readAudience(token: string): string | undefined {
  try {
    const [audience, ...more] = [decodeJwt(token).aud].flat()
    return typeof audience === 'string' && more.length === 0 ? audience : undefined
  } catch {
    return undefined
  }
}
