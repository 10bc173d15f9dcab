import type { IncomingMessage } from 'node:http'
import type { Step } from './state.ts'

/** What a request is for, as it came. */
export const readTarget: Step = (ctx, next) => {
  const { host, path, search } = targetOf(ctx.req)
  const { state } = ctx
  state.host = host
  state.path = path
  state.search = search
  // Koa's own reading throws on some of these, so it is given what we have read; what is no path is nowhere.
  ctx.req.url = `${path.startsWith('/') ? '' : '/'}${path}${search && `?${search}`}`
  return next()
}

/**
 * The request target, read by hand: `new URL` folds `..`, `%2e` and `\`, and throws. An absolute one names its own host
 * (RFC 9112, 3.2.2).
 */
function targetOf({ url = '/', headers }: IncomingMessage) {
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [undefined, headers.host ?? '', url]
  const target = rest === '' || rest!.startsWith('?') ? `/${rest}` : rest!
  const cut = target.indexOf('?')
  if (cut < 0) return { host: authority!, path: target, search: '' }
  return { host: authority!, path: target.slice(0, cut), search: target.slice(cut + 1) }
}
