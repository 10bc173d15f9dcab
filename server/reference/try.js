// Signs in by redirecting the whole page, and sends the forms' contents. The token stays in this tab.
const element = (id) => document.getElementById(id)
const { issuer, section, scope, client } = element('session').dataset
const here = location.origin + location.pathname
const api = here.slice(0, -'/docs'.length)

// Includes the API's name: at localhost the pages of all three have one origin.
const store = `reference ${section}`
const kept = () => JSON.parse(sessionStorage.getItem(store) ?? JSON.stringify({ client }))
const keep = (more) => sessionStorage.setItem(store, JSON.stringify({ ...kept(), ...more }))

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_' })[c] ?? '')

async function signIn() {
  const [state, verifier] = [crypto.randomUUID(), crypto.randomUUID() + crypto.randomUUID()]
  keep({ begun: { state, verifier, hash: location.hash } })
  const code_challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const pkce = { code_challenge, code_challenge_method: 'S256' }
  const query = { response_type: 'code', client_id: kept().client, redirect_uri: here, scope, state, ...pkce }
  location.assign(`${issuer}/authorize?${new URLSearchParams(query)}`)
}

// Accepts only an answer to this tab's request (state) from the server that was asked (iss), and no refresh token.
async function finishSignIn({ state, iss, code, error, error_description: reason = error }) {
  const { begun, client: client_id } = kept()
  keep({ begun: undefined })
  history.replaceState(null, '', here + (begun?.hash ?? ''))
  if (begun?.state !== state || iss !== issuer) return 'This sign-in was not begun here. Please sign in again.'
  if (error) return error === 'access_denied' ? 'You did not allow it.' : `Signing in did not work: ${reason}`
  const { verifier: code_verifier } = begun
  const body = { grant_type: 'authorization_code', client_id, code, redirect_uri: here, code_verifier }
  const response = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(body) })
  if (!response.ok) return `Signing in did not work: ${await response.text()}`
  const { access_token: token, scope: scopes, expires_in } = await response.json()
  keep({ token, scopes, until: Date.now() + expires_in * 1000 })
}

function showSession(problem) {
  const { token, until, scopes, client: id } = kept()
  const time = new Date(until).toLocaleTimeString([], { timeStyle: 'short' })
  const held = until
    ? `Signed in until ${time} with ${scopes.split(' ').join(', ')}.`
    : 'Calls are made with your token.'
  const none = 'Without one of your clients (?client_id=…), calls need an existing token.'
  const ready = id && issuer ? `Calls are made as the app ${id}, for the member who signs in.` : none
  element('session-state').textContent = problem ?? (token ? held : ready)
  element('session-state').className = problem ? 'problem' : 'hint'
  element('sign-in').hidden = !id || !issuer
  element('sign-out').hidden = !token
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

function requestOf({ dataset, elements }) {
  const headers = {}
  const query = new URLSearchParams()
  let { path } = dataset
  for (const { name, value, dataset: field } of elements) {
    if (field.in === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(value).replaceAll("'", '%27'))
    else if (field.in === 'query' && value) query.append(name, value)
    else if (field.in === 'header' && value) headers[name.toLowerCase()] = value
  }
  const body = elements.body?.value
  if (body !== undefined) headers['content-type'] = 'application/json'
  return { url: `${api}${path}${query.size > 0 ? `?${query}` : ''}`, init: { method: dataset.method, headers, body } }
}

// Updates the lines for curl and fetch to what the form would send.
function showLines(form) {
  const { url, init } = requestOf(form)
  const pairs = Object.entries(init.headers)
  const texts = {
    url: quoted(url),
    curl:
      pairs.map((pair) => ` \\\n  -H ${quoted(pair.join(': '))}`).join('') +
      (init.body ? ` -d ${quoted(init.body)}` : ''),
    headers: pairs.map(([name, value]) => `, '${name}': ${JSON.stringify(value)}`).join(''),
    body: init.body ? `\n  body: JSON.stringify(${init.body}),` : '',
  }
  for (const span of form.parentElement.querySelectorAll('[data-line]')) span.textContent = texts[span.dataset.line]
}

const SHOWN = /^(etag|x-request-id|x-storage-.*|ratelimit.*|retry-after|www-authenticate|allow)$/

async function send(form) {
  const { url, init } = requestOf(form)
  if (kept().token) init.headers.authorization = `Bearer ${kept().token}`
  const began = performance.now()
  const response = await fetch(url, { ...init, cache: 'no-store' })
  const text = await response.text()
  const head = [...response.headers].filter(([name]) => SHOWN.test(name)).map((pair) => pair.join(': '))
  const links = [...form.parentElement.querySelectorAll('a[href^="docs/errors#"]')]
  const row = links.find((link) => text.includes(JSON.stringify(link.textContent)))
  const help = { textContent: 'What to do', href: row?.href ?? `docs/errors#status-${response.status}` }
  const answer = form.querySelector('[role=status]')
  answer.replaceChildren(`${response.status} in ${Math.round(performance.now() - began)} ms `)
  if (response.status >= 400) answer.append(Object.assign(document.createElement('a'), help))
  for (const part of [head.join('\n'), readable(text)]) {
    if (part) answer.append(Object.assign(document.createElement('pre'), { textContent: part }))
  }
}

// Unchanged where indenting would alter it: 1e400, or more digits than a number has.
function readable(text) {
  try {
    const value = JSON.parse(text)
    const same = JSON.stringify(value).replace(/\s/g, '') === text.replace(/\s/g, '')
    return same ? JSON.stringify(value, null, 2) : text
  } catch {
    return text
  }
}

const useToken = (form) => {
  keep({ token: form.elements.token.value.trim(), until: undefined })
  form.reset()
  showSession()
}
document.addEventListener('submit', (event) => {
  event.preventDefault()
  if (event.target.id === 'token-form') useToken(event.target)
  else send(event.target)
})
document.addEventListener('input', ({ target: { form } }) => form.dataset.path && showLines(form))
element('sign-in').addEventListener('click', signIn)
element('sign-out').addEventListener('click', () => {
  keep({ token: undefined })
  showSession()
})

for (const hidden of document.querySelectorAll('#session, form[data-path]')) hidden.hidden = false
const query = Object.fromEntries(new URLSearchParams(location.search))
if (query.client_id) keep({ client: query.client_id, token: undefined, values: query })
for (const field of document.querySelectorAll('[data-in=path]'))
  field.value = kept().values?.[field.name] || field.value
for (const form of document.querySelectorAll('form[data-path]')) showLines(form)
showSession(query.state ? await finishSignIn(query) : undefined)
