/** An operation of the reference with its code as a reader copies it, by language. */
export interface PrintedCall {
  id: string
  code: Record<string, string>
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' }

export const printedCalls = (page: string): PrintedCall[] =>
  [...page.matchAll(/<section class="operation" id="([\w-]+)">(.*?)<\/section>/gs)]
    .map(([, id, text]) => {
      const blocks = [...text!.matchAll(/data-code="(\w+)"><pre><code>(.*?)<\/code>/gs)]
      const code = blocks.map(([, language, code]) => [
        language,
        code!.replace(/&\w+;/g, (entity) => entities[entity]!),
      ])
      return { id: id!, code: Object.fromEntries(code) }
    })
    .filter(({ code }) => Object.keys(code).length > 0)

type Call = (createClient: unknown, token: string) => Promise<unknown>
const AsyncFunction = (async () => {}).constructor as new (...source: string[]) => Call

/** Runs code of the reference, whose import is given as `createClient`: its answer, for fetch as status and body. */
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
