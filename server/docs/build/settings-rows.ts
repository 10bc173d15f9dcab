import type { Token, Tokens } from 'marked'

const isCode = (token: Token): token is Tokens.Codespan => token.type === 'codespan'

export const isSettings = ({ header: [first] }: Tokens.Table) => first?.text === 'Variable'

/** The settings that a row of a table of variables is about, by what its first cell calls them: `…_LMS` ends like the one before. */
export function namesOfRow([first]: readonly Tokens.TableCell[]): Map<string, string> {
  const names = new Map<string, string>()
  let last = ''
  for (const { text } of (first?.tokens ?? []).filter(isCode)) {
    last = text.replace('…', last.replace(/_[A-Z]+$/, ''))
    names.set(text, last)
  }
  return names
}
