import { readFileSync } from 'node:fs'
import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'

/** The frame of pages to read: a search and a list of pages beside the text. The build copies these files. */
export const docsLayoutStyle = readFileSync(new URL('docs-layout.css', import.meta.url), 'utf8')
export const docsLayoutScript = readFileSync(new URL('docs-layout.js', import.meta.url), 'utf8')

/** In characters. */
export const MAX_QUERY = 100

/** Ids of the frame have a dot, which ids of headings never have. */
const search = (query: string | undefined) => html`<form role="search" method="get" action="/docs/search">
<label for="docs.search">Search <kbd>/</kbd></label>
<div class="ask"><input id="docs.search" type="search" name="q" value="${query}" maxlength="${MAX_QUERY}" autocomplete="off" spellcheck="false" aria-describedby="docs.found"><button>Go</button></div>
<p id="docs.found" class="visually-hidden" role="status"></p>
<ul class="results" hidden></ul>
</form>`

export interface Group {
  title: string
  /** Made by `link`. */
  items: readonly Html[]
  /** In lines, as numbers. */
  isShort?: boolean
}

export const link = (address: string, text: string | Html, isCurrent = false) =>
  html`<li><a href="${address}"${isCurrent && html` aria-current="page"`}>${text}</a></li>`

interface Side {
  /** In the field of the search. */
  query?: string | undefined
  label: string
  /** Opens the list where the window is narrow. */
  summary: string
  /** Before the groups. */
  first?: Html
  groups: readonly Group[]
}

export const SKIP = 'Skip to the content'

/** Goes above the page's `main`. */
export const side = ({ query, label, summary, first, groups }: Side) => html`<div class="side">
${search(query)}
<nav class="pages" aria-label="${label}"><details><summary>${summary}</summary>
${first && html`<ul>${first}</ul>`}
${groups.map(({ title, items, isShort }, at) => html`<p id="docs.group-${at}">${title}</p><ul aria-labelledby="docs.group-${at}"${isShort && html` class="short"`}>${items}</ul>\n`)}</details></nav>
</div>
`
