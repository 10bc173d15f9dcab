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
  /** `team` is the host of its client metadata document, and nobody has reviewed it. */
  vouched?: true
  /** An https URL. */
  homepage?: string | null
  /** In the words of its team. */
  description?: string | null
  /** What each scope is for, in the words of its team. */
  purposes?: Readonly<Record<string, string>>
  /** The icon's address, relative to the path of all icons. */
  icon?: string | null
}

export interface Named {
  id: string
  name: string
}
