const SECRET = /SECRET|PASSWORD|KEY/
/** Of servers: these addresses hold passwords. */
const WITH_PASSWORD = /(?<!_BASE|_JWKS)_URL$/
const LONGEST = 100

/** A setting's value as a message may repeat it: on one line, without what is secret. */
export function shownValue(name: string, value: string): string {
  if (SECRET.test(name)) return '***'
  const text = WITH_PASSWORD.test(name) ? withoutPassword(value) : value.replace(/\/\/.*@/s, '//***@')
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}

/** Of an address that cannot be parsed only the scheme: its password may stand anywhere. */
function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return `${/^\w+:\/\//.exec(text)?.[0] ?? ''}***`
  const { protocol, username, password, host, pathname, search } = new URL(text)
  if (host === '') return `${protocol}//***`
  return `${protocol}//${username || password ? '***@' : ''}${host}${pathname}${search && '?***'}`
}
