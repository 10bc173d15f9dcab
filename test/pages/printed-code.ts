/** An operation of the reference with its code as a reader copies it, by language. */
export interface PrintedCall {
  id: string
  code: Record<string, string>
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'" }
const toCode = (html: string) => html.replace(/<[^>]*>/g, '').replace(/&#?\w+;/g, (entity) => entities[entity]!)

/** Files of a page of the documentation, by the name in the paragraph above each; commands under their heading, '' above all. */
export function printedFiles(page: string) {
  const files: Record<string, string> = {}
  const commands: Record<string, string> = {}
  let heading = ''
  const parts =
    /<h2 id="([\w-]+)">|<p>(?:<code>([^<]+)<\/code>)?(?:(?!<\/p>).)*<\/p>\s*<div class="block">.*?<code>(.*?)<\/code><\/pre>/gs
  for (const [, id, name, code] of page.matchAll(parts)) {
    if (id !== undefined) heading = id
    else if (name === undefined) commands[heading] = toCode(code!)
    else files[name] = toCode(code!)
  }
  return { files, commands }
}

/** From the page in each language; `open` gets the query. Other code, where there is none in a language, does not count. */
export async function printedCalls(
  open: (query: string) => Promise<string>,
  languages: readonly string[],
): Promise<PrintedCall[]> {
  const calls = new Map<string, Record<string, string>>()
  for (const language of languages) {
    const page = await open(`?code=${language}`)
    for (const [, id, text] of page.matchAll(/<section class="operation" id="([\w-]+)">(.*?)<\/section>/gs)) {
      const [, shown, code] = /data-code="(\w+)"><pre tabindex="0"><code>(.*?)<\/code>/s.exec(text!) ?? []
      if (shown === undefined) continue
      const found = calls.get(id!) ?? {}
      calls.set(id!, found)
      if (shown === language) found[shown] = toCode(code!)
    }
  }
  return [...calls].map(([id, code]) => ({ id, code }))
}

type Call = (createClient: unknown, token: string) => Promise<unknown>
const AsyncFunction = (async () => {}).constructor as new (...source: string[]) => Call

/** Runs code of the reference, whose import is given as `createClient`: its answer, for fetch the body. */
export async function runPrinted(code: string, createClient: unknown, token: string): Promise<unknown> {
  const [, name] = /^const (\w+) = await/m.exec(code) ?? []
  const body = code.replace(/^import .*\n/, '')
  const call = new AsyncFunction('createClient', 'token', `${body}\n${name ? `return ${name}` : ''}`)
  const answer = await call(createClient, token)
  if (!(answer instanceof Response)) return answer
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
