/** Parameters of OpenID Connect that have no effect here, whatever they say. */
const WITHOUT_EFFECT = ['acr_values', 'claims', 'claims_locales', 'display']

/** Parameters that help a sign-in along. */
const HINTS = ['id_token_hint', 'login_hint', 'ui_locales']

/** Without `openid` there is no ID token that these are about. */
const OF_ID_TOKENS = ['nonce', 'max_age', 'id_token_hint']

/** An ID token is checked, the others are stored. */
const MAX_STORED = 1_024

/**
 * Drops what a request only hints at, where it cannot be used: a hint is never an error. oidc-provider refuses hints without
 * `openid`, and repeated ones. Returns whether something was dropped.
 */
export function dropHints(request: URLSearchParams, isOpenid: boolean): boolean {
  const dropped = [...(isOpenid ? [] : OF_ID_TOKENS), ...WITHOUT_EFFECT].filter((name) => request.has(name))
  dropped.push(...HINTS.filter((name) => request.has(name) && !isUsable(name, request.getAll(name))))
  for (const name of dropped) request.delete(name)
  return dropped.length > 0
}

const isUsable = (name: string, [value, ...more]: string[]) =>
  more.length === 0 && (name === 'id_token_hint' || (value!.length <= MAX_STORED && !value!.includes('\0')))
