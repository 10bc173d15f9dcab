import { createOnigurumaEngine } from '@shikijs/engine-oniguruma'
import wasm from '@shikijs/engine-oniguruma/wasm-inlined'
import csharp from '@shikijs/langs/csharp'
import dart from '@shikijs/langs/dart'
import go from '@shikijs/langs/go'
import ini from '@shikijs/langs/ini'
import json from '@shikijs/langs/json'
import kotlin from '@shikijs/langs/kotlin'
import nginx from '@shikijs/langs/nginx'
import php from '@shikijs/langs/php'
import python from '@shikijs/langs/python'
import sh from '@shikijs/langs/shellscript'
import sql from '@shikijs/langs/sql'
import swift from '@shikijs/langs/swift'
import tsx from '@shikijs/langs/tsx'
import typescript from '@shikijs/langs/typescript'
import yaml from '@shikijs/langs/yaml'
import type { LanguageRegistration } from '@shikijs/primitive'
import { codeToTokensBase, createShikiPrimitive } from '@shikijs/primitive'
import type { Html } from '../../browser/pages/html.ts'
import { codeHtml, html } from '../../browser/pages/html.ts'

/** Without the grammars of languages that stand inside it in other people's code. */
const alone = (grammars: readonly LanguageRegistration[]) => ({ ...grammars.at(-1)!, embeddedLangs: [] })

/** By the word that begins a fence. */
const languages: Record<string, { title: string; grammar?: LanguageRegistration }> = {
  csharp: { title: 'C#', grammar: alone(csharp) },
  csv: { title: 'CSV' },
  dart: { title: 'Dart', grammar: alone(dart) },
  go: { title: 'Go', grammar: alone(go) },
  html: { title: 'HTML' },
  http: { title: 'HTTP' },
  ini: { title: 'INI', grammar: alone(ini) },
  js: { title: 'JavaScript', grammar: alone(typescript) },
  jsx: { title: 'JavaScript', grammar: alone(tsx) },
  json: { title: 'JSON', grammar: alone(json) },
  kotlin: { title: 'Kotlin', grammar: alone(kotlin) },
  nginx: { title: 'nginx', grammar: alone(nginx) },
  php: { title: 'PHP', grammar: alone(php) },
  python: { title: 'Python', grammar: alone(python) },
  sh: { title: 'Shell', grammar: alone(sh) },
  sql: { title: 'SQL', grammar: alone(sql) },
  swift: { title: 'Swift', grammar: alone(swift) },
  ts: { title: 'TypeScript', grammar: alone(typescript) },
  yaml: { title: 'YAML', grammar: alone(yaml) },
}

/** Output and the like, which is in no language. */
const NONE = 'text'

/** The classes of docs.css, each with TextMate scopes; of those that fit, the most exact one counts. */
const classes = {
  comment: ['comment', 'punctuation.definition.comment'],
  keyword: ['keyword', 'storage', 'variable.language'],
  string: ['string', 'punctuation.definition.string', 'constant.character.escape'],
  constant: ['constant', 'variable.other.normal.shell', 'punctuation.definition.variable.shell'],
  function: ['entity.name.function', 'entity.name.command', 'support.function'],
  type: [
    ...['entity.name.type', 'entity.name.tag', 'entity.other.inherited-class', 'support.class', 'support.type'],
    'punctuation.support.type',
  ],
  plain: ['meta.embedded', 'meta.template.expression', 'string.unquoted.argument.shell'],
}
const PLAIN = 'plain'

const shiki = createShikiPrimitive({
  engine: await createOnigurumaEngine(wasm),
  langs: Object.values(languages).flatMap(({ grammar }) => grammar ?? []),
  themes: [
    {
      name: 'classes',
      type: 'light',
      settings: [
        { settings: { foreground: PLAIN } },
        ...Object.entries(classes).map(([foreground, scope]) => ({ scope, settings: { foreground } })),
      ],
    },
  ],
})

/** How readers know the language of a fence; undefined if it has none. */
export const languageTitle = (language: string): string | undefined =>
  language === '' || language === NONE ? undefined : (languages[language]?.title ?? language)

/** The same text, with elements around what has a class. */
export function highlighted(text: string, language: string): Html {
  const lang = languages[language]?.grammar?.name
  if (!lang) return codeHtml(text)
  const lines = codeToTokensBase(shiki, text, { lang, theme: 'classes' }).map((tokens) =>
    tokens.map(({ content, color = PLAIN }) =>
      color === PLAIN ? codeHtml(content) : html`<span class="${color}">${codeHtml(content)}</span>`,
    ),
  )
  return html`${lines.map((line, at) => [at > 0 && '\n', ...line])}`
}
