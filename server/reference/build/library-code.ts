import type { HarRequest } from '@readme/httpsnippet'
import { HTTPSnippet } from '@readme/httpsnippet'
import type { Call } from '../code.js'
import { buildRequest } from '../code.js'

interface Target {
  id: Parameters<HTTPSnippet['convert']>[0]
  client: string
  /** Code that ends a string with the placeholder, and that with the variable `token`. */
  token: readonly [placeholder: string, variable: string]
  complete?: (code: string) => string
}

const PLACEHOLDER = 'TOKEN'
const QUOTED = `"Bearer ${PLACEHOLDER}"`

/** The library writes for OkHttp 3, which Kotlin no longer compiles against OkHttp 4 and 5, and neither imports nor prints. */
function toOkHttp5(code: string) {
  const body = /^val mediaType = MediaType\.parse\((".*?")\)\nval body = RequestBody\.create\(mediaType, (".*")\)$/m
  const imports = ['OkHttpClient', 'Request', ...(body.test(code) ? ['MediaType.Companion.toMediaType'] : [])]
  if (body.test(code)) imports.push('RequestBody.Companion.toRequestBody')
  const written = code.replace(body, 'val body = $2.toRequestBody($1.toMediaType())')
  return `${imports.map((name) => `import okhttp3.${name}\n`).join('')}\n${written}\nprintln(response.body?.string())`
}

/** The client of each language that its developers use. */
const targets: Readonly<Record<string, Target>> = {
  python: { id: 'python', client: 'requests', token: [QUOTED, 'f"Bearer {token}"'] },
  php: { id: 'php', client: 'curl', token: [`Bearer ${PLACEHOLDER}"`, 'Bearer $token"'] },
  go: { id: 'go', client: 'native', token: [QUOTED, '"Bearer "+token'] },
  swift: { id: 'swift', client: 'urlsession', token: [QUOTED, '"Bearer \\(token)"'] },
  kotlin: { id: 'kotlin', client: 'okhttp', token: [QUOTED, '"Bearer $token"'], complete: toOkHttp5 },
  csharp: { id: 'csharp', client: 'httpclient', token: [QUOTED, '$"Bearer {token}"'] },
}

/** The call in the languages that a library writes, as programs with a variable `token`. */
export function libraryCode(call: Call, finish: (code: string) => string): Record<string, string> {
  const { url, headers, body } = buildRequest(call)
  const sent = { ...headers, authorization: `Bearer ${PLACEHOLDER}` }
  const text = body && JSON.stringify(JSON.parse(body))
  const request: Partial<HarRequest> = {
    method: call.method,
    url,
    headers: Object.entries(sent).map(([name, value]) => ({ name: toHeaderName(name), value })),
    ...(text && { postData: { mimeType: 'application/json', text } }),
  }
  // An entry of an archive may lack what the library fills in itself.
  const snippet = new HTTPSnippet({
    log: { version: '1.2', creator: { name: 'member-apps', version: '1' }, entries: [{ request }] },
  })
  const write = ({ id, client, token: [placeholder, variable], complete }: Target) => {
    const code = String((snippet.convert(id, client) || [])[0])
    if (code.split(placeholder).length !== 2) throw new Error(`${call.id} has no token in ${id}.`)
    const withToken = code.trim().replace(placeholder, () => variable)
    return finish(complete ? complete(withToken) : withToken)
  }
  return Object.fromEntries(Object.entries(targets).map(([language, target]) => [language, write(target)]))
}

const toHeaderName = (name: string) => name.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase())
