import { parseUrl } from '../../prisma/parse-url.ts'

const SECRET = /SECRET|PASSWORD|KEY/
/** Server addresses contain passwords. */
const WITH_PASSWORD = /(?<!_BASE|_JWKS)_URL$/
const LONGEST = 100

/** A setting's value for a message: on one line, without secrets. */
export function shownValue(name: string, value: string): string {
  if (SECRET.test(name)) return '***'
  const text = WITH_PASSWORD.test(name) ? withoutPassword(value) : value.replace(/\/\/.*@/s, '//***@')
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}

/** Only the scheme of an address that cannot be parsed: its password may be anywhere. */
function withoutPassword(text: string): string {
  const url = parseUrl(text)
  if (!url) return `${/^\w+:\/\//.exec(text)?.[0] ?? ''}***`
  const { protocol, username, password, host, pathname, search } = url
  if (host === '') return `${protocol}//***`
  return `${protocol}//${username || password ? '***@' : ''}${host}${pathname}${search && '?***'}`
}
