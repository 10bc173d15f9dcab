/** Names, words and statuses; other figures and dates are not looked for. */
export const WORD = /[\p{L}_][\p{L}\d_]+|\b[1-5]\d\d\b/gu

const stop = new Set(
  'after again all also am an and another any are as at be been but by can could do does each every for from has have how if in into is it its may more most my no not of on one only or other our own same should so some than that the their them then there these they this to us use using want was we what when where which who why will with without would you your'.split(
    ' ',
  ),
)

/** The words of a text in lower case; those of `TOKEN_ISSUER` also by themselves. */
export const splitWords = (text: string): string[] =>
  [...text.toLowerCase().matchAll(WORD)].flatMap(([word]) => (word.includes('_') ? [word, ...word.split('_')] : word))

/** Without the endings of verbs and of plurals: `delet` of `deletes`, `deleted` and `deleting`. Null for words not looked for. */
export function stem(word: string): string | null {
  if (word.length < 2 || stop.has(word)) return null
  if (word.length < 4) return word
  const singular = word.replace(/ies$/, 'y').replace(/([^aisu])s$/, '$1')
  const plain = singular.replace(/ied$/, 'y').replace(/^(.{4,})(?:ing|ed)$/, '$1')
  return plain.length > 4 ? plain.replace(/e$/, '') : plain
}
