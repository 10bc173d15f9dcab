type Pair = [string, string]

export interface Answer {
  state: string
  /** The answer's parameters alone. */
  parameters: Pair[]
  /** The page's address without them. */
  without: string
}

const OF_CODE = ['state', 'iss', 'code']
const OF_ERROR = ['state', 'iss', 'error', 'error_description', 'error_uri']

/**
 * The authorization server's answer in the page's address: it has `state`, `iss` of this issuer, and `code` or `error`. All else
 * is the page's own, which may have parameters of these names: the server's come last.
 */
export function answerIn(address: string, issuer: string): Answer | undefined {
  const [, path = '', query = '', hash = ''] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(address) ?? []
  const parts = query.split('&')
  const pairs = parts.map(parsePair)
  const last = (name: string) => pairs.map(([own]) => own).lastIndexOf(name)
  const findText = (name: string) => pairs[last(name)]?.[1]

  const [state, iss] = [findText('state'), findText('iss')]
  const names = last('error') > last('code') ? OF_ERROR : OF_CODE
  if (!state || !iss || !findText(names[2]!) || !isSame(iss, issuer)) return undefined
  const found = names.map(last).filter((place) => place >= 0)
  const rest = parts.filter((_, place) => !found.includes(place))
  return {
    state,
    parameters: found.map((place) => pairs[place]!),
    without: path + (rest.length > 0 ? `?${rest.join('&')}` : '') + hash,
  }
}

function parsePair(part: string): Pair {
  const [name = '', ...value] = part.split('=')
  return [decoded(name), decoded(value.join('='))]
}

/** As it is where the page's own is not encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '))
  } catch {
    return text
  }
}

function isSame(iss: string, issuer: string): boolean {
  if (iss === issuer) return true
  try {
    return new URL(iss).href === new URL(issuer).href
  } catch {
    return false
  }
}
