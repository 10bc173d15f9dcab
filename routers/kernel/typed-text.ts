/**
 * Control characters, those that hide or reverse others, halves of characters, and separators of lines. Operators read in a
 * terminal what people type, and members on the consent page.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** As above, without the characters that cannot be seen, but that emoji and names in some scripts need. */
const HOSTILE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Whether a text that the platform sends is of one line, and cannot act on a terminal. */
export const isPlainLine = (text: string) => !HOSTILE.test(text)

/** The same with tabs and line breaks. */
export const isPlainText = (text: string) => isPlainLine(text.replaceAll(/\t|\r?\n|\p{Zl}|\p{Zp}/gu, ' '))

/** Whether a text that a person types has 1 to `max` characters, all of one line. */
export const isLine = (text: string, max: number) => text !== '' && [...text].length <= max && !UNSAFE.test(text)

/** The same with line breaks. */
export const isText = (text: string, max: number) => isLine(text.replaceAll(/\r?\n/g, ' '), max)
