import type { IncomingMessage } from 'node:http'
import type { Step } from './state.ts'

export const readTarget: Step = (ctx, next) => {
  const { host, path, search } = parseTarget(ctx.req)
  const { state } = ctx
  state.host = host
  state.path = path
  state.search = search
  // Koa's own parsing throws on some targets, so it gets the parsed one; a target that is not a path matches nothing.
  ctx.req.url = `${path.startsWith('/') ? '' : '/'}${path}${search && `?${search}`}`
  return next()
}

/**
 * Parses the request target manually: `new URL` normalises `..`, `%2e` and `\`, and throws. An absolute target names its own host
 * (RFC 9112, 3.2.2).
 */
function parseTarget({ url = '/', headers }: IncomingMessage) {
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [undefined, headers.host ?? '', url]
  const target = rest === '' || rest!.startsWith('?') ? `/${rest}` : rest!
  const cut = target.indexOf('?')
  if (cut < 0) return { host: authority!, path: target, search: '' }
  return { host: authority!, path: target.slice(0, cut), search: target.slice(cut + 1) }
}
