import GithubSlugger from 'github-slugger'
import type { Token, Tokens } from 'marked'
import { lexer } from 'marked'
import type { Heading } from '../docs.ts'

/** A Markdown file with its headings, whose ids are those that GitHub gives them. */
export interface SourceFile {
  /** From the root of the repository: `docs/apps.md`. */
  path: string
  tokens: readonly Token[]
  headings: ReadonlyMap<Token, Heading>
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

export function parsed(path: string, markdown: string): SourceFile {
  const tokens = lexer(markdown)
  const slugger = new GithubSlugger()
  const headings = tokens.filter(isHeading).map((token): [Token, Heading] => {
    const text = joinText(token.tokens)
    return [token, { id: slugger.slug(text), text, depth: token.depth }]
  })
  return { path, tokens, headings: new Map(headings) }
}

/** The words that a reader sees. */
export function joinText(tokens: readonly Token[] = []): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return ''
      if (token.type === 'br') return ' '
      return 'tokens' in token && token.tokens ? joinText(token.tokens) : 'text' in token ? token.text : ''
    })
    .join('')
}
