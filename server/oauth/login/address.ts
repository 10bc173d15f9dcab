/** What a mail server takes as a whole address (RFC 5321). */
const LONGEST = 254

/** One plain address: no display name, quotes, lists, white space or control characters, so that it fits into no header but its own. */
const plain = /^[^\s\p{C}"(),:;<>@[\\\]]+@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u

/**
 * An e-mail address in the form in which addresses are compared; null when it is none. Only A to Z lose their case, as
 * in the database: other letters fold into ones that belong to somebody else, such as the Kelvin sign into `k`.
 */
export function comparableEmail(text: string): string | null {
  const email = text.trim()
  if (email.length > LONGEST || !plain.test(email)) return null
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
