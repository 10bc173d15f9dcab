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
  | 'inDevelopment'
  | 'notApproved'
  | 'tooManyRequests'
  | 'unavailable'
  | 'signedOut'

export interface AppView {
  name: string
  team: string
  /** An https URL. */
  homepage?: string | null
  /** The address of its picture, below that of all icons. */
  icon?: string | null
}

/** An option to choose: a member or an organisation. */
export interface Named {
  id: string
  name: string
}
