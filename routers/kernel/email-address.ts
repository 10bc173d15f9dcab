import { domainToASCII, domainToUnicode } from 'node:url'

/** RFC 5321. */
export const MAX_EMAIL_LENGTH = 254

/** U+200C and U+200D are letters of domains (UTS 46); the other full stops are those of East Asian keyboards. */
const LABEL = String.raw`[\p{L}\p{M}\p{N}\u200c\u200d-]+`
const DOMAIN = `${LABEL}(?:[.\\u3002\\uff0e\\uff61]${LABEL})*`

/** A bare address: without quotes, lists, white space or control characters it cannot inject a header. */
const plain = new RegExp(String.raw`^[^\s\p{C}"(),:;<>@[\\\]]+@${DOMAIN}$`, 'u')

export const isEmailAddress = (text: string) => text.length <= MAX_EMAIL_LENGTH && plain.test(text)

/** Characters without a width that are pasted with an address. */
const UNSEEN = /[\u00ad\u200b\u200e\u200f\u2060\ufeff]/g

/** Composed and in lower case. The Kelvin sign stays, which would become the letter k and so another mailbox. */
const comparableLocal = (local: string) =>
  local.replace(/[^\u212a]+/g, (part) => part.normalize('NFC').toLowerCase().normalize('NFC'))

/** As in DNS (UTS 46); a domain in ASCII is compared in the same way by the database. */
function comparableDomain(domain: string): string {
  if (/^[\0-\x7f]*$/.test(domain)) return domain.toLowerCase()
  return domainToASCII(domain) || domain.normalize('NFC').toLowerCase()
}

const parts = (email: string) => {
  const at = email.lastIndexOf('@')
  return [email.slice(0, at), email.slice(at + 1)] as const
}

/**
 * An e-mail address in the form used for comparison, which is the same for all spellings of a mailbox; null if it is not one. For
 * people it is stored in `mailbox`, unless all of the address is ASCII. Mails go to the address as stored.
 */
export function comparableEmail(text: string): string | null {
  const email = text.replace(UNSEEN, '').trim()
  if (!isEmailAddress(email)) return null
  const [local, domain] = parts(email)
  return `${comparableLocal(local)}@${comparableDomain(domain)}`
}

/** A comparable address as it may be written in texts: with its domain in ASCII or in letters, these composed or not. */
export function listSpellings(comparable: string): string[] {
  const [local, domain] = parts(comparable)
  const written = `${local}@${domainToUnicode(domain) || domain}`
  return [...new Set([comparable, written, written.normalize('NFC'), written.normalize('NFD')])]
}
