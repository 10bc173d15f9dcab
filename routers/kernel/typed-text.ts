/**
 * Control characters, those that hide or reverse others, halves of characters, and separators of lines. Operators read in a
 * terminal what people type, and members on the consent page.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Whether a text that a person types has 1 to `max` characters, all of one line. */
export const isLine = (text: string, max: number) => text !== '' && [...text].length <= max && !UNSAFE.test(text)

/** The same with line breaks. */
export const isText = (text: string, max: number) => isLine(text.replaceAll(/\r?\n/g, ' '), max)
