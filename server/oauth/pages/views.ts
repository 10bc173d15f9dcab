export type Problem =
  | 'emailInvalid'
  | 'codeWrong'
  | 'codeExpired'
  | 'tooOften'
  | 'upstreamFailed'
  | 'memberUnknown'
  | 'organisationMissing'
  | 'scopesMissing'

export type Message =
  | 'expired'
  | 'notFound'
  | 'crossSite'
  | 'requestWrong'
  | 'tooManyRequests'
  | 'unavailable'
  | 'signedOut'

export interface AppView {
  name: string
  team: string
}

/** An option to choose: a member or an organisation. */
export interface Named {
  id: string
  name: string
}
