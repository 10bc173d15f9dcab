/** RFC 5321. */
const MAX_LENGTH = 254

/** A bare address: without quotes, lists, white space or control characters it cannot inject a header. */
const plain = /^[^\s\p{C}"(),:;<>@[\\\]]+@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u

export const isEmailAddress = (text: string) => text.length <= MAX_LENGTH && plain.test(text)

/**
 * An e-mail address in the form used for comparison; null if it is not one. Only A to Z are lowercased, as in the database: other
 * letters may fold into another address, as the Kelvin sign does into `k`.
 */
export function comparableEmail(text: string): string | null {
  const email = text.trim()
  if (!isEmailAddress(email)) return null
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
