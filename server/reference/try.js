import { buildRequest, tryParse } from './code.js'
import { keepCode, showCode, showLanguage } from './show-code.js'

// Signs in by redirecting the whole page, and sends the forms' contents. The token stays in this tab.
const element = (id) => document.getElementById(id)
const { issuer, section, client, base, references } = element('session').dataset
const signIns = document.querySelectorAll('.sign-in')
const here = location.origin + location.pathname
/** The page shows the API of its host, or the one that its address names. */
const shown = new URLSearchParams(location.search).get('api')
const page = shown ? `${here}?api=${shown}` : here

// For all APIs: a token of an organisation is good at each.
const store = 'reference'
const kept = () => ({ client, tokens: {}, ...JSON.parse(stored(store) ?? '{}') })
const keep = (more) => put(store, JSON.stringify({ ...kept(), ...more }))

// In the page's memory where the browser allows no storage.
const memory = new Map()
function stored(name) {
  try {
    return sessionStorage.getItem(name)
  } catch {
    return memory.get(name) ?? null
  }
}
function put(name, text) {
  try {
    sessionStorage.setItem(name, text)
  } catch {
    memory.set(name, text)
  }
}

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_' })[c] ?? '')

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

// Browsers have crypto.subtle only at https and localhost.
const INSECURE =
  'Signing in works at https or localhost only. Open this page at such an address, or use an existing token.'

/** What the client has registered, where that is known; else what this API needs. */
function findScope({ scope, more }) {
  const { client: id, values } = kept()
  const all = `${scope} ${more}`.trim().split(' ')
  const registered = values?.scopes?.split(' ') ?? (id === client ? all : scope.split(' '))
  return all.filter((one) => registered.includes(one)).join(' ')
}

let leaving = false
async function signIn({ kind, ...scopes }) {
  if (!crypto.subtle) return showSession(INSECURE)
  if (leaving) return
  const [state, verifier] = [random(), random()]
  keep({ begun: { state, verifier, kind, page: page + location.hash } })
  if (memory.has(store)) return showSession('Signing in needs storage, which your browser does not allow this page.')
  leaving = true
  const code_challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const pkce = { code_challenge, code_challenge_method: 'S256' }
  const query = {
    response_type: 'code',
    client_id: kept().client,
    redirect_uri: here,
    scope: findScope(scopes),
    state,
    ...pkce,
  }
  location.assign(`${issuer}/authorize?${new URLSearchParams(query)}`)
}

// Accepts only an answer to this tab's request (state), and no refresh token.
async function finishSignIn({ state, code, error, error_description: reason = error }) {
  const { begun, client: client_id } = kept()
  keep({ begun: undefined })
  history.replaceState(null, '', begun?.page ?? here)
  if (begun?.state !== state) return 'This sign-in was not begun here. Please sign in again.'
  if (error) return error === 'access_denied' ? 'You did not allow it.' : `Signing in did not work: ${reason}`
  const { verifier: code_verifier, kind } = begun
  const body = { grant_type: 'authorization_code', client_id, code, redirect_uri: here, code_verifier }
  let given
  try {
    const response = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(body) })
    if (!response.ok) return `Signing in did not work: ${await response.text()}`
    given = await response.json()
  } catch (failure) {
    return `Signing in did not work: ${failure.message}`
  }
  const { access_token: token, scope: scopes, expires_in } = given
  keep({
    given: undefined,
    tokens: { ...kept().tokens, [kind]: { token, scopes, until: Date.now() + expires_in * 1000 } },
  })
}

/** As whom and with which app, as the token says; nothing for one that says it to the service alone. */
function readHolder(token) {
  try {
    const [, claims] = token.split('.')
    const bytes = Uint8Array.from(atob(claims.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
    const { sub, organisation, client_id: app } = JSON.parse(new TextDecoder().decode(bytes))
    const member = sub && sub !== app ? `as ${sub}` : 'as the app itself'
    return app ? `${member}${organisation ? ` of ${organisation}` : ''} with the app ${app} ` : ''
  } catch {
    return ''
  }
}

function describe({ token, until, scopes }) {
  const time = new Date(until).toLocaleTimeString([], { timeStyle: 'short' })
  return `Signed in ${readHolder(token)}until ${time} with ${scopes.split(' ').join(', ')}.`
}

function showSession(problem) {
  const { tokens, given, client: id } = kept()
  const usable = [...signIns].flatMap(({ dataset: { kind } }) => tokens[kind] ?? [])
  const held = given ? `Calls are made ${readHolder(given)}with your token.` : usable.map(describe).join(' ')
  const none = 'Without one of your clients (?client_id=…), calls need an existing token.'
  const ready = id && issuer ? `Calls are made as the app ${id}, for the member who signs in.` : none
  element('session-state').textContent = problem ?? (held || ready)
  element('session-state').className = problem ? 'problem' : 'hint'
  for (const button of signIns) button.hidden = !id || !issuer || findScope(button.dataset) === ''
  element('sign-out').hidden = held === ''
}

const readCall = (form) => ({
  id: form.closest('section').id,
  ...form.dataset,
  section,
  base,
  fields: [...form.querySelectorAll('[data-in]')].map(({ name, value, dataset }) => ({
    name,
    value,
    in: dataset.in,
    type: dataset.type,
  })),
  body: form.elements.body?.value,
})

/** The page of another API here, as its own host has not what this tab keeps. */
function findHere({ href, hash, origin }) {
  if (origin === location.origin || !stored(store)) return undefined
  const address = href.replace(/[?#].*/, '')
  const api = Object.entries(JSON.parse(references)).find(([, one]) => one === address)
  return api && `${here}?api=${api[0]}${hash}`
}

// The forms keep their contents. Where the page cannot be fetched, the link leads to it.
async function chooseLanguage(link) {
  try {
    const settle = await showLanguage(link)
    for (const form of forms) showCode(form, readCall(form))
    settle()
  } catch {
    location.assign(link.href)
  }
}

/** One of the organisation that the call is for; another one is refused with the reason. */
function findToken(kind) {
  const { given, tokens } = kept()
  return given ?? (tokens[kind] ?? Object.values(tokens)[0])?.token
}

const SHOWN = /^(etag|x-request-id|x-storage-.*|ratelimit.*|retry-after|www-authenticate|allow)$/

async function send(form) {
  const answer = form.querySelector('[role=status]')
  answer.replaceChildren()
  try {
    await call(form, answer)
  } catch (failure) {
    answer.textContent = `There is no answer: ${failure.message}`
  }
}

async function call(form, answer) {
  const { url, headers, body } = buildRequest(readCall(form))
  const token = findToken(form.dataset.kind)
  if (token) headers.authorization = `Bearer ${token}`
  const began = performance.now()
  const response = await fetch(url, { method: form.dataset.method, headers, body, cache: 'no-store' })
  const text = await response.text()
  const head = [...response.headers].filter(([name]) => SHOWN.test(name)).map((pair) => pair.join(': '))
  const links = [form.closest('section'), element('common')].flatMap((part) => [
    ...(part?.querySelectorAll('a[href^="docs/errors#"]') ?? []),
  ])
  const row = links.find((link) => text.includes(JSON.stringify(link.textContent)))
  const help = { textContent: 'What to do', href: row?.href ?? `docs/errors#status-${response.status}` }
  answer.replaceChildren(`${response.status} in ${Math.round(performance.now() - began)} ms `)
  if (response.status >= 400) answer.append(Object.assign(document.createElement('a'), help))
  for (const part of [head.join('\n'), readable(text)]) {
    if (part) answer.append(Object.assign(document.createElement('pre'), { textContent: part }))
  }
}

// Unchanged where indenting would alter it: 1e400, or more digits than a number has.
function readable(text) {
  const parsed = tryParse(text)
  return parsed ? JSON.stringify(parsed.value, null, 2) : text
}

const useToken = (form) => {
  keep({ given: form.elements.token.value.trim(), tokens: {} })
  form.reset()
  showSession()
}
document.addEventListener('submit', (event) => {
  if (event.target.matches('[role=search]')) return
  event.preventDefault()
  if (event.target.id === 'token-form') useToken(event.target)
  else send(event.target)
})
document.addEventListener('input', ({ target }) => {
  if (target.form?.dataset.path) showCode(target.form, readCall(target.form))
})
document.addEventListener('click', (event) => {
  const link = event.target.closest('a')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  const other = link.matches('.tabs a') ? undefined : findHere(link)
  if (!other && !link.matches('.tabs a')) return
  event.preventDefault()
  if (other) location.assign(other)
  else chooseLanguage(link)
})
for (const button of signIns) button.addEventListener('click', () => signIn(button.dataset))
element('sign-out').addEventListener('click', () => {
  keep({ given: undefined, tokens: {} })
  showSession()
})

for (const hidden of document.querySelectorAll('#session, form[data-path]')) hidden.hidden = false
const query = Object.fromEntries(new URLSearchParams(location.search))
if (query.client_id) {
  const isSame = query.client_id === kept().client
  keep({ client: query.client_id, values: query, ...(isSame ? {} : { tokens: {}, given: undefined }) })
}
const forms = document.querySelectorAll('form[data-path]')
for (const form of forms) keepCode(form, readCall(form))
for (const field of document.querySelectorAll('[data-in=path]'))
  field.value = kept().values?.[field.name] || field.value
for (const form of forms) {
  Object.assign(form, { autocomplete: 'off', spellcheck: false })
  const answer = Object.assign(document.createElement('div'), { className: 'answer' })
  answer.setAttribute('role', 'status')
  form.append(answer)
  showCode(form, readCall(form))
}
// Only the server that was asked answers; all else in the address is no answer.
const isAnswer = query.state && query.iss === issuer && (query.code || query.error)
const problem = isAnswer ? await finishSignIn(query) : kept().problem
// The answer comes to the API of this host.
if (isAnswer && location.search) {
  keep({ problem })
  location.reload()
} else {
  if (kept().problem) keep({ problem: undefined })
  showSession(problem)
}
// Back from the sign-in by the browser's button.
addEventListener('pageshow', () => {
  leaving = false
})
