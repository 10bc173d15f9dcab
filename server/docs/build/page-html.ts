import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Token, Tokens } from 'marked'
import { Parser, Renderer } from 'marked'
import { builtHtml, html } from '../../browser/pages/html.ts'
import { markAddresses } from '../addresses.ts'
import { highlighted, languageTitle } from './highlight.ts'
import type { Resolve } from './links.ts'
import type { PageSource } from './page-source.ts'
import { isSettings, namesOfRow } from './settings-rows.ts'
import type { SourceFile } from './source-file.ts'
import { joinText } from './source-file.ts'

interface Given {
  resolve: Resolve
  picture: (path: string) => Picture | undefined
  fault: (sentence: string) => void
}

export const pageHtml = (page: PageSource, given: Given): string =>
  Parser.parse([...page.tokens], { renderer: new PageRenderer(page, given) })

class PageRenderer extends Renderer {
  readonly #source: SourceFile
  readonly #given: Given
  /** Ids of the row that is rendered, by the code that has them. */
  #names = new Map<string, string>()
  /** Names the tables below it. */
  #heading: string
  constructor({ source, heading }: PageSource, given: Given) {
    super()
    this.#source = source
    this.#given = given
    this.#heading = heading
  }

  override heading(token: Tokens.Heading): string {
    const { id, text, depth } = this.#source.headings.get(token)!
    this.#heading = text
    const inner = builtHtml(`<a href="#${id}">${this.#inline(token.tokens)}</a>`)
    return `<h${depth} id="${id}">${inner.text}</h${depth}>\n`
  }

  /** The first word after a fence is its language. */
  override code({ text, lang = '' }: Tokens.Code): string {
    const [language] = lang.split(' ', 1) as [string]
    const title = languageTitle(language)
    const label = title && html`<span class="language">${title}</span>`
    const code = highlighted(this.#marked(text), language)
    return html`<div class="block">${label}<pre tabindex="0"><code>${code}</code></pre></div>\n`.text
  }

  override codespan({ text }: Tokens.Codespan): string {
    const id = this.#names.get(text)
    return html`<code${id && html` id="${id}"`}>${this.#marked(text)}</code>`.text
  }

  /** A row of a table that lost its head, or was cut by an empty line, is a paragraph. */
  override paragraph(token: Tokens.Paragraph): string {
    const row = /^ *\|.*/m.exec(token.raw)
    if (row) this.#given.fault(`${this.#source.path} has a row without its table: ${row[0].trim()}`)
    return super.paragraph(token)
  }

  /** Comments are marks for programs that write parts of a file. */
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    if (/^\s*(?:<!--[\s\S]*?-->\s*)+$/.test(text)) return ''
    this.#given.fault(`${this.#source.path} has HTML: ${text.trim()}`)
    return html`${text}`.text
  }

  /** A page that is named by its file gets its title; a file that is no page is its path, unless the link has other words. */
  override link({ href, tokens }: Tokens.Link): string {
    const found = this.#given.resolve(this.#source.path, href)
    const title = 'title' in found && /^[\w/-]+\.md$/.test(joinText(tokens)) && found.title
    const inner = title ? html`${title}` : builtHtml(this.#inline(tokens))
    if ('address' in found) return html`<a href="${found.address}">${inner}</a>`.text
    const isNamed = joinText(tokens).endsWith(posix.basename(found.file))
    return isNamed ? html`<code>${found.file}</code>`.text : inner.text
  }

  override image({ href, text }: Tokens.Image): string {
    const path = posix.join(posix.dirname(this.#source.path), href)
    const found = this.#given.picture(path)
    if (!found) {
      this.#given.fault(`${this.#source.path} has no picture ${href}.`)
      return html`${text}`.text
    }
    const { name, width, height } = found
    return html`<a class="picture" href="/docs/images/${name}"><img src="/docs/images/${name}" alt="${text}" width="${width}" height="${height}" loading="lazy"></a>`
      .text
  }

  /** Scrolls by itself, and so by keyboard too. A column without a name has no header cell. Each setting has its name as an id. */
  override table(token: Tokens.Table): string {
    const { header, rows } = token
    const cell = ({ tokens, align }: Tokens.TableCell, tag: 'th' | 'td') =>
      html`<${builtHtml(tag)}${align === 'right' && html` class="right"`}>${builtHtml(this.#inline(tokens))}</${builtHtml(tag)}>`
    const named = (one: Tokens.TableCell, names: Map<string, string>) => {
      this.#names = names
      const made = cell(one, 'td')
      this.#names = new Map()
      return made
    }
    const head = header.some(({ text }) => text !== '')
    const first = html`<thead><tr>${header.map((one) => cell(one, one.text === '' ? 'td' : 'th'))}</tr></thead>\n`
    return html`<div class="scrolls" tabindex="0" role="group" aria-label="Table: ${this.#heading}"><table>
${head && first}<tbody>
${rows.map((row) => html`<tr>${row.map((one, at) => named(one, at === 0 && isSettings(token) ? namesOfRow(row) : new Map()))}</tr>\n`)}</tbody></table></div>\n`
      .text
  }

  #marked(code: string) {
    return markAddresses(code, this.#source.path)
  }

  #inline(tokens: Token[]) {
    return this.parser.parseInline(tokens)
  }
}

export interface Picture {
  name: string
  width: number
  height: number
  hash: string
}

const PNG_WIDTH_AT = 16

/** Width and height keep the text in its place while the picture loads. */
export function readPicture(name: string, bytes: Buffer): Picture {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 20)
  if (name.endsWith('.png')) {
    return { name, hash, width: bytes.readUInt32BE(PNG_WIDTH_AT), height: bytes.readUInt32BE(PNG_WIDTH_AT + 4) }
  }
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(bytes.toString('utf8')) ?? []
  if (!width || !height) throw new Error(`${name} has no size.`)
  return { name, hash, width: Number(width), height: Number(height) }
}
