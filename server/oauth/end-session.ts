import { decodeJwt } from 'jose'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { readForm } from '../browser/forms.ts'
import { preferLanguages } from '../browser/language.ts'
import { fullNameOf } from '../browser/login/persons.ts'
import { lookFor } from '../browser/look.ts'
import { redirect, sendMessage } from '../browser/page-responses.ts'
import { sendPage } from '../browser/send-page.ts'
import type { StepContext } from '../http/state.ts'
import { appOf } from './app-views.ts'
import { postLogoutUris } from './authorize-scopes.ts'
import { routes } from './metadata.ts'
import type { PageOptions } from './page-options.ts'
import { endSessionPage } from './pages/end-session.ts'

const [MAX_QUERY, MAX_STATE] = [4_096, 1_024]

/**
 * Sign-out at an app's request (OpenID Connect RP-Initiated Logout): the member is asked, and returns to an address that the app
 * has registered. The apps that they have allowed keep their access.
 */
export function endSession({ db, provider, pages: { path, sessionOf } }: PageOptions) {
  /** The client, and where to return to; null without an address. Throws 400 for a wrong token, client or address. */
  const returnOf = async (search: string) => {
    if (search.length > MAX_QUERY) throw errors.requestInvalid()
    const query = new URLSearchParams(search)
    const [hint, given, uri, state] = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'].map((name) =>
      query.get(name),
    )
    if ((state ?? '').length > MAX_STATE) throw errors.requestInvalid()
    const id = hint ? audienceOf(hint) : (given ?? undefined)
    if (id === undefined && !uri) return { id: null, url: null }
    const isOne = id !== undefined && isPostgresText(id) && (given ?? id) === id
    const client = isOne ? await provider().Client.find(id) : undefined
    if (!client || (uri && !postLogoutUris(client).includes(uri))) throw errors.requestInvalid()
    if (hint) {
      await provider()
        .IdToken.validate(hint, client)
        .catch(() => {
          throw errors.requestInvalid()
        })
    }
    const url = uri ? new URL(uri) : null
    if (state) url?.searchParams.set('state', state)
    return { id: client.clientId, url }
  }
  const leave = (ctx: StepContext, url: URL | null) =>
    url ? redirect(ctx, url.href) : sendMessage(ctx, 'signedOut', 200)

  return {
    async get(ctx: StepContext) {
      const { search } = ctx.state
      const query = new URLSearchParams(search)
      preferLanguages(ctx, query.get('ui_locales'))
      const { id, url } = await returnOf(search)
      const { person } = await sessionOf(ctx)
      const member = person === undefined ? null : await fullNameOf(db, person)
      if (member === null) return leave(ctx, url)
      const app = id === null ? null : await appOf(db, id)
      // The token has been checked, and the form has no need of it.
      query.delete('id_token_hint')
      if (id !== null) query.set('client_id', id)
      sendPage(
        ctx,
        endSessionPage({ ...lookFor(ctx), action: `${path}${routes.end_session}`, member, app, query: `${query}` }),
      )
    },
    async confirm(ctx: StepContext) {
      const form = await readForm(ctx)
      const { url } = await returnOf(form.get('query') ?? '')
      const decision = form.get('decision')
      if (decision === 'stay') return redirect(ctx, url?.href ?? `${path}/connected`)
      if (decision !== 'end') throw errors.requestInvalid()
      await (await sessionOf(ctx)).signOut()
      leave(ctx, url)
    },
  }
}

function audienceOf(token: string): string {
  try {
    const { aud } = decodeJwt(token)
    if (typeof aud === 'string') return aud
  } catch {
    // Not a token.
  }
  throw errors.requestInvalid()
}
