import { errors } from '../../kernel/errors.ts'
import type { TextFault } from '../../kernel/text-input.ts'
import { characterSentence } from '../../kernel/text-input.ts'

/** Why a text cannot be a redirect URI. */
const redirectReasons = {
  whiteSpace: 'it contains white space',
  notAscii: 'characters beyond ASCII must be encoded, in a host as xn--, elsewhere by percent',
  notEncoded: 'it has a character that must be encoded by percent',
  notAbsolute: 'it is not an absolute URI',
  schemeMissing: 'it has no scheme: write http:// or https:// before it',
  fragment: 'it has a fragment',
  nativeScheme: 'the scheme of a native app contains a dot, as in com.example.app',
  webScheme: 'a web client must use https://',
  noHost: 'it has no host',
  userName: 'it contains a user name',
  wildcard: 'wildcards are not supported',
  httpHost: 'http:// is for 127.0.0.1, [::1] and localhost only',
  nativeLocalhost: 'a native app must use 127.0.0.1, [::1] or localhost instead of a name below localhost',
  localhost: 'localhost is for development and sandbox clients only',
  nativeHttps: 'a native app must use http:// on this machine',
} as const

export type RedirectReason = keyof typeof redirectReasons

/** Why a text is no key set of a client. */
export const keyReasons = {
  missing: 'There is no key.',
  tooMany: 'A client can have at most two keys.',
  notList: 'keys must be a list.',
  format: 'The keys are neither JSON nor PEM.',
  private: 'This is a private key: the service needs only the public one.',
  unreadable: 'A key cannot be read.',
  weak: 'A key must be P-256, Ed25519, or RSA with 2048 to 4096 bits.',
  kid: 'The kid of a key has 1 to 255 visible ASCII characters.',
} as const

/** A text that a team writes; the second is the app, client, team or scope that it is about. */
type TextName = 'name' | 'description' | 'purpose'

const textNames: Record<TextName, (of: string) => string> = {
  name: (of) => `The name of the ${of}`,
  description: (of) => `The description of the ${of}`,
  purpose: (of) => `What ${of} is for`,
}
const describeSubject = (text: string, of: string) => textNames[text as TextName](of)

/** The rules for what a team registers, each with the sentence of a value that breaks it. */
export const faultSentences = {
  id: (of: string) => `The id of the ${of} must be 1 to 64 letters, digits, '_' or '-'.`,
  name: (of: string) => `The name of the ${of} must be 1 to 100 characters on one line.`,
  spaces: (of: string) => `The name of the ${of} begins or ends with white space.`,
  unseen: (text: string, of: string, character: string) =>
    `${describeSubject(text, of)} ${characterSentence({ reason: 'unseen', character })}`,
  stray: (text: string, of: string, character: string) =>
    `${describeSubject(text, of)} ${characterSentence({ reason: 'stray', character })}`,
  description: () => 'The description of the app is at most 500 characters, without control characters.',
  homepage: () => 'The homepage of the app is an https:// address of at most 2048 characters, without user info.',
  homepageCharacters: () =>
    'The homepage of the app has white space, or characters that must be encoded: in its host as xn--, elsewhere by percent.',
  redirectMissing: () => 'A client needs a redirect URI, unless it signs in on devices.',
  redirectTooLong: () => 'A redirect URI can have at most 2048 characters.',
  redirect: (address: string, reason: string) =>
    `${address} cannot be a redirect URI: ${redirectReasons[reason as RedirectReason]}.`,
  logoutElsewhere: (address: string) => `${address} is at the host of none of the redirect URIs.`,
  logoutsTooLong: () => 'The redirect URIs after sign-out can have at most 64 KiB together.',
  scopeMissing: () => 'A client needs a scope.',
  scopeUnknown: (scope: string) => `The scope ${scope} does not exist.`,
  scopeOpenid: () => 'profile and email need openid.',
  scopeLevel: (scope: string) => `${scope} is only for teams with the Developer level.`,
  scopeFirstParty: (scope: string) => `${scope} is not a first-party scope.`,
  purpose: (scope: string) => `Say in 1 to 1000 characters, without control characters, what ${scope} is for.`,
  teamPurpose: () => 'Say in 1 to 1000 characters, without control characters, what the team is for.',
  value: () => 'The value must be one JSON value, with arrays and objects at most 256 levels deep.',
  publicKey: (reason: string) => keyReasons[reason as keyof typeof keyReasons],
  pictureTooLarge: () => 'The logo is at most 128 KiB.',
  pictureFormat: () => 'The logo is a PNG or a JPEG.',
  pictureSize: (width: string, height: string) =>
    `The logo is square, of at most 512 × 512 pixels: this one has ${width} × ${height}.`,
  pictureUnreadable: () => 'The logo cannot be read: the file is cut off or damaged.',
} as const

export type FaultRule = keyof typeof faultSentences

/** A field of the input that breaks a rule. */
export interface Fault {
  /** As `redirectUris` or `purpose.svc.me.profile:read`. */
  field: string
  rule: FaultRule
  /** The parameters of the rule's sentence. */
  values: readonly string[]
}

export const fault = <Rule extends FaultRule>(
  field: string,
  rule: Rule,
  ...values: Parameters<(typeof faultSentences)[Rule]>
): Fault => ({ field, rule, values })

/**
 * The fault of a text; `otherwise` has the sentence about the text as a whole, which for a name does not speak of control
 * characters.
 */
export const textFaults = (
  field: string,
  [text, of]: [TextName, string],
  found: TextFault | undefined,
  otherwise: Fault,
): Fault[] => {
  if (!found) return []
  const reason = found.reason === 'control' && text === 'name' ? 'unseen' : found.reason
  return [reason === 'unseen' || reason === 'stray' ? fault(field, reason, text, of, found.character) : otherwise]
}

export const formatSentence = ({ rule, values }: Fault): string =>
  (faultSentences[rule] as (...values: readonly string[]) => string)(...values)

/** Throws 400 with a sentence for each fault. */
export function refuseIf(faults: readonly Fault[]) {
  if (faults.length > 0) throw errors.registrationRefused(faults.map(formatSentence).join('\n'), faults)
}
