/** Control characters in stored text would affect the terminal, and direction characters the order of a line. */
export const printable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

/** The same of several lines. */
export const printableLines = (text: string) => text.split('\n').map(printable).join('\n')
