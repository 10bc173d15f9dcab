export type Problem =
  | 'emailInvalid'
  | 'codeWrong'
  | 'codeExpired'
  | 'tooOften'
  | 'upstreamFailed'
  | 'memberUnknown'
  | 'organisationMissing'
  | 'scopesMissing'
  | 'deviceCodeWrong'
  | 'reasonInvalid'
  | 'reasonUnseen'
  | 'decidedMeanwhile'

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
  | 'deviceAllowed'
  | 'deviceRefused'

export interface AppView {
  name: string
  team: string
  /** An https URL. */
  homepage?: string | null
  /** The icon's address, relative to the path of all icons. */
  icon?: string | null
}

export interface Named {
  id: string
  name: string
}
