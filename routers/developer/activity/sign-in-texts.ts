/** The longest texts of a failed sign-in, in characters; CHECKs of the table have the same figures. */
const MAX_ADDRESS = 300
const MAX_SCOPES = 1_000
const MAX_MESSAGE = 300

/** What has no glyph, or changes the direction of the text around it, as U+FFFD. */
const cut = (text: string, most: number) =>
  [...text.slice(0, 2 * most).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD')].slice(0, most).join('')

/** A redirect URI without query, fragment and credentials. */
export const plainAddress = (address: string) =>
  cut(address.split(/[?#]/, 1)[0]!.replace(/^([^/\\]*[/\\]{2})[^/\\]*@/, '$1'), MAX_ADDRESS)

/** The scopes of a request, separated by spaces; null without any that RFC 6749 allows. */
export function plainScopes(scope: string): string | null {
  let kept = ''
  for (const one of scope.split(' ')) {
    if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(one)) continue
    const longer = kept === '' ? one : `${kept} ${one}`
    if (longer.length > MAX_SCOPES) break
    kept = longer
  }
  return kept || null
}

export const plainMessage = (message: string) => cut(message, MAX_MESSAGE)
