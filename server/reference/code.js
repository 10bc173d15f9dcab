// A call as it is sent, and as code in four forms. The build writes the examples with it, the page what its forms contain.

const to =
  (name, pick = () => []) =>
  (input) => ({ name, given: pick(input) })
const inStore =
  (name, pick) =>
  ({ collection, scope, ...input }) => ({ name, given: pick(input), store: [collection, scope && { scope }] })

/**
 * The functions of the SDK with their arguments, by operation; those of `me` have the names of their operations. An argument that
 * is undefined is left out, as is a header that the function does not take.
 */
const sdkCalls = {
  root: to('root'),
  storageList: inStore('list', (page) => [some(page)]),
  storageGet: inStore('get', ({ key }) => [key]),
  storagePut: inStore('put', ({ key, value, idempotencyKey, ...conditions }) => [key, value, some(conditions)]),
  storageDelete: inStore('delete', ({ key, idempotencyKey, ifNoneMatch, ...condition }) => [key, some(condition)]),
  quizzesSubmit: to('quizzes.submit', ({ quizId, answers, ...options }) => [quizId, answers, some(options)]),
  webhookPut: to('webhook.put', ({ id, ...webhook }) => [id, webhook]),
  webhookGet: to('webhook.get', ({ id }) => [id]),
  webhookDelete: to('webhook.delete', ({ id }) => [id]),
}
const findSdkCall = (id) =>
  sdkCalls[id] ?? (/^me[A-Z]/.test(id) ? to(toProcedure(id), (input) => [some(input)]) : undefined)
/** `storage.put` of `storagePut`. */
const toProcedure = (id) => id.replace(/[A-Z]/g, (letter) => `.${letter.toLowerCase()}`)
const some = (object) => (Object.keys(object).length > 0 ? object : undefined)

/** What fetch gets, without the token: the address, headers and body. */
export function buildRequest({ base, path, fields, body }) {
  const headers = {}
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, value } of fields) {
    const text = encodeURIComponent(value).replaceAll("'", '%27')
    if (place === 'path') filled = filled.replace(`{${name}}`, () => text)
    else if (place === 'query' && value) query.append(name, value)
    else if (place === 'header' && value) headers[name.toLowerCase()] = value
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  return { url: `${base}${filled}${query.size > 0 ? `?${query}` : ''}`, headers, body }
}

/** The code by language. `call` has `id`, `method`, `path`, `section`, `base`, `fields` and the text of the `body`. */
export function renderCode(call) {
  const { id, method, section, base } = call
  const { url, headers, body } = buildRequest(call)
  const input = toInput(call)
  const sdkCall = findSdkCall(id)
  const assigned = (expression) => (method === 'DELETE' ? expression : `const answer = ${expression}`)
  const sdk = ({ name, given, store }) => `import { createClient } from '@member-apps/sdk'

const api = createClient({
  ${section}: ${literal(base)},
  tokens: token,
})
${store ? `const store = api.storage(${listed(store)})\n` : ''}${assigned(`await ${store ? 'store' : 'api'}.${name}(${listed(given)})`)}`
  const trpc = () => `import { createClient } from 'member-apps-client'

const api = createClient({ url: 'http://localhost:3001/trpc', token })
${assigned(`await api.${toProcedure(id)}.${method === 'GET' ? 'query' : 'mutate'}(${listed([some(input)])})`)}`
  return {
    curl: renderCurl(method, url, headers, body),
    javascript: renderFetch(method, url, headers, body),
    sdk: sdkCall && (input ? sdk(sdkCall(input)) : UNWRITABLE),
    trpc: input ? trpc() : UNWRITABLE,
  }
}

const UNWRITABLE =
  '// Only curl and JavaScript send this body as it is: it is no JSON object, or JavaScript writes it differently.'

function renderCurl(method, url, headers, body) {
  const pairs = Object.entries(headers).map((pair) => ` \\\n  -H ${quoted(pair.join(': '))}`)
  return `curl -X ${method} ${quoted(url)} \\
  -H "Authorization: Bearer $TOKEN"${pairs.join('')}${body === undefined ? '' : ` -d ${quoted(body)}`}`
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

function renderFetch(method, url, headers, body) {
  const pairs = [`authorization: \`Bearer \${token}\``, ...Object.entries(headers).map((pair) => renderPair(pair, ''))]
  const sent = pairs.length === 1 ? `{ ${pairs} }` : `{\n${pairs.map((pair) => `    ${pair},\n`).join('')}  }`
  const parsed = body === undefined ? undefined : tryParse(body)
  const text = parsed ? `JSON.stringify(${literal(parsed.value, '  ')})` : literal(body)
  return `const response = await fetch(${literal(url)}, {${method === 'GET' ? '' : `\n  method: '${method}',`}
  headers: ${sent},${body === undefined ? '' : `\n  body: ${text},`}
})`
}

/** The input of the procedure: `If-Match` is `ifMatch`. Undefined where the body is no object that can be written. */
function toInput({ fields, body }) {
  const parsed = body === undefined ? { value: {} } : tryParse(body)
  if (!parsed || Object(parsed.value) !== parsed.value || Array.isArray(parsed.value)) return undefined
  const given = fields.filter(({ value }) => value !== '')
  return {
    ...Object.fromEntries(given.map((field) => [inputName(field), inputValue(field)])),
    ...parsed.value,
  }
}

const inputName = ({ name, in: place }) =>
  place === 'header' ? name.toLowerCase().replace(/-./g, ([, letter]) => letter.toUpperCase()) : name

function inputValue({ type, value }) {
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  return type === 'boolean' && /^(true|false)$/.test(value) ? value === 'true' : value
}

/** The value that JSON stands for, in an object; undefined where it stands for none, or would be sent as another one. */
export function tryParse(text) {
  try {
    const value = JSON.parse(text)
    return JSON.stringify(value).replace(/\s/g, '') === text.replace(/\s/g, '') ? { value } : undefined
  } catch {
    return undefined
  }
}

/** The longest object in one line: code is beside the text, 50 characters wide. */
const MAX_LINE = 44

/** A value in JavaScript. */
function literal(value, indent = '') {
  if (typeof value === 'string') return /^[^'\\\p{Cc}]*$/u.test(value) ? `'${value}'` : JSON.stringify(value)
  if (Object(value) !== value) return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((one) => literal(one, inner))]
    : ['{', '}', Object.entries(value).map((pair) => renderPair(pair, inner))]
  if (parts.length === 0) return open + close
  const space = open === '{' ? ' ' : ''
  const flat = `${open}${space}${parts.join(', ')}${space}${close}`
  if (indent.length + flat.length <= MAX_LINE && !flat.includes('\n')) return flat
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

const renderPair = ([key, value], indent) => `${renderKey(key)}: ${literal(value, indent)}`

/** In brackets it is a property also where it would name the prototype. */
function renderKey(key) {
  if (key === '__proto__') return `['${key}']`
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : literal(key)
}

const listed = (given) =>
  given
    .filter((one) => one !== undefined)
    .map((one) => literal(one))
    .join(', ')
