/** What acts on a terminal or changes the direction of text. */
const HOSTILE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Control characters, halves of characters, those that hide or reverse others, and separators of lines. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Joiners, variation selectors, and the tags of flags: without a width, and needed within words and emoji. */
const JOINING = String.raw`\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}`
const SELECTORS = String.raw`\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}`
const LETTER = String.raw`[\p{L}\p{M}\p{N}\p{Extended_Pictographic}]`
/** The viramas of Indic scripts, after which a joiner chooses a form of the letter (RFC 5892, A.1 and A.2). */
const VIRAMA = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]`

/** Where they join: between letters or emoji, and what ends a character of its own, as the heart in red and the flag of Wales do. */
const JOINED = new RegExp(
  [
    String.raw`(?<=${LETTER}|\p{Emoji_Modifier})[\u200c\u200d](?=${LETTER})`,
    `(?<=${VIRAMA})[\\u200c\\u200d]`,
    String.raw`(?<=[\p{S}\p{Extended_Pictographic}])[\ufe00-\ufe0f]`,
    String.raw`(?<=(?![${SELECTORS}])[\p{L}\p{M}\p{N}\p{P}])[${SELECTORS}](?=${LETTER})`,
    String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
    String.raw`(?<=(?![${SELECTORS}])\p{Script=Mongolian})[\u180b-\u180d\u180f]`,
    String.raw`(?<=[\p{Script=Myanmar}\p{Script=Phags_Pa}])\ufe00`,
    String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)[\u{e0020}-\u{e007e}]{1,30}\u{e007f}`,
  ].join('|'),
  'gu',
)
const STRAY = new RegExp(`[${JOINING}]`, 'u')

/** Nothing that can be seen: white space, marks without a letter, and what has no width. */
const BLANK = /^[\s\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*$/u

export const isBlank = (text: string) => BLANK.test(text)

type TextReason = 'length' | 'lines' | 'control' | 'unseen' | 'stray'

/** Why a text is refused; `character` is the one at fault, as `U+200B`. */
export interface TextFault {
  reason: TextReason
  character: string
}

const formatCodePoint = (character: string) =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

const faultAt = (reason: TextReason, character = ''): TextFault => ({
  reason,
  character: character && formatCodePoint(character),
})

/** The first joiner, variation selector or tag that joins nothing, as `U+200D`; undefined without one. */
export function strayIn(text: string): string | undefined {
  if (!STRAY.test(text)) return undefined
  const stray = STRAY.exec(text.replace(JOINED, ''))
  return stray ? formatCodePoint(stray[0]) : undefined
}

/** The fault after its subject in a sentence; undefined for what the sentence about the text as a whole says. */
export function characterSentence({ reason, character }: TextFault): string | undefined {
  if (reason === 'unseen') return `has ${character}, which cannot be seen or acts on the text around it.`
  if (reason === 'stray') return `has ${character} where it joins nothing: it belongs between letters or emoji.`
}

/** Whether a text that the platform sends is of one line, and cannot act on a terminal. */
export const isPlainLine = (text: string) => !HOSTILE.test(text)

/** The same with tabs and line breaks. */
export const isPlainText = (text: string) => isPlainLine(text.replaceAll(/\t|\r?\n|\p{Zl}|\p{Zp}/gu, ' '))

/**
 * Why a text that a person types does not have 1 to `max` characters, all of one line and all to be seen; undefined if it has.
 * Operators read it in a terminal, and members on the consent page.
 */
export function lineFault(text: string, max: number): TextFault | undefined {
  if (text === '' || [...text].length > max) return faultAt('length')
  if (/[\t\n\v\f\r\u0085\p{Zl}\p{Zp}]/u.test(text)) return faultAt('lines')
  const stray = strayIn(text)
  if (stray !== undefined) return { reason: 'stray', character: stray }
  const control = /\p{Cc}/u.exec(text)
  if (control) return faultAt('control', control[0])
  const unsafe = UNSAFE.exec(text.replace(JOINED, ''))?.[0] ?? (isBlank(text) ? text : undefined)
  return unsafe === undefined ? undefined : faultAt('unseen', unsafe)
}

/** The same with line breaks. */
export const textFault = (text: string, max: number) => lineFault(text.replaceAll(/\r?\n/g, ' '), max)
