// Signs a club member in with OAuth 2.0 and PKCE, then calls the API. No build step and no secret.
const scope = 'svc.me.profile:read svc.me.events:read svc.apps.storage:read svc.apps.storage:write'
const { api, issuer, client_id } = await (await fetch('/config.json')).json()
const redirect_uri = `${location.origin}/`
const element = (id) => document.getElementById(id)
const say = (text) => element('message').replaceChildren(text)
const fail = (text) => Promise.reject(new Error(text))
// sessionStorage: for this tab only, until it is closed.
const tokens = () => JSON.parse(sessionStorage.getItem('tokens'))

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_' })[c] ?? '')
const post = (url, fields) => fetch(url, { method: 'POST', body: new URLSearchParams({ client_id, ...fields }) })

async function signIn() {
  const [state, verifier] = [crypto.randomUUID(), crypto.randomUUID() + crypto.randomUUID()]
  sessionStorage.setItem('signIn', JSON.stringify({ state, verifier }))
  const code_challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const pkce = { code_challenge, code_challenge_method: 'S256' }
  const query = { response_type: 'code', client_id, redirect_uri, scope, state, ...pkce }
  location.assign(`${server.authorization_endpoint}?${new URLSearchParams(query)}`)
}

// The member is back. Accepts only an answer to this tab's request (state) from the server that it asked (iss).
async function finishSignIn({ state, iss, code, error, error_description }) {
  const begun = JSON.parse(sessionStorage.getItem('signIn'))
  sessionStorage.removeItem('signIn')
  history.replaceState(null, '', '/')
  if (begun?.state !== state || iss !== issuer) return fail('This sign-in was not begun here. Please sign in again.')
  if (error === 'access_denied') return fail('You did not allow Clubnote. Nothing was read or stored.')
  if (error) return fail(`Signing in did not work: ${error_description}`)
  return takeTokens({ grant_type: 'authorization_code', code, redirect_uri, code_verifier: begun.verifier })
}

async function takeTokens(fields) {
  const response = await post(server.token_endpoint, fields)
  if (response.ok) return sessionStorage.setItem('tokens', await response.text())
  if (response.status >= 500) return fail('Your club cannot be reached right now. Please try again later.')
  sessionStorage.removeItem('tokens')
  return fail('Your sign-in has ended. Please sign in again.')
}

// A refresh token works once, so concurrent requests share one refresh.
let refreshing
function refresh() {
  refreshing ??= takeTokens({ grant_type: 'refresh_token', refresh_token: tokens()?.refresh_token })
  return refreshing.finally(() => (refreshing = undefined))
}

async function call(path, init = {}, again = true) {
  const headers = { ...init.headers, authorization: `Bearer ${tokens()?.access_token}` }
  const response = await fetch(`${api}${path}`, { ...init, headers })
  if (response.status === 401 && again) return refresh().then(() => call(path, init, false))
  return response
}

// The message for a refusal. 403: the member did not allow this scope.
async function problem(response, asked) {
  const { detail, error } = await response.json()
  return response.status === 403 ? `You did not allow Clubnote to ${asked}.` : (detail ?? error.message)
}

async function show(id, path, asked, textOf) {
  const response = await call(path)
  element(id).innerText = response.ok ? textOf(await response.json()) : await problem(response, asked)
}

// The version of the note that this tab has read; null: no note yet.
const note = '/storage/notes/note?scope=user'
let etag
async function readNote() {
  const response = await call(note)
  if (!response.ok && response.status !== 404) return fail(await problem(response, 'read its notes'))
  etag = response.headers.get('etag')
  return response.ok ? (await response.json()).value : ''
}

async function saveNote() {
  const headers = { 'content-type': 'application/json', ...(etag ? { 'if-match': etag } : { 'if-none-match': '*' }) }
  const response = await call(note, { method: 'PUT', headers, body: JSON.stringify({ value: element('note').value }) })
  if (response.status === 412) return say(`Another tab has written “${await readNote()}”. Save again to replace that.`)
  if (!response.ok) return fail(await problem(response, 'keep a note'))
  etag = response.headers.get('etag')
  say('Your note is saved.')
}

async function showClub() {
  const line = ({ start, title }) => `${new Date(start * 1000).toLocaleString()}: ${title}`
  const firstLines = ({ items }) => items.slice(0, 5).map(line).join('\n') || 'Nothing is planned.'
  const profile = show('profile', '/me/profile', 'see your name', (me) => `${me.firstName} ${me.lastName}, ${me.email}`)
  await Promise.all([profile, show('events', '/me/events', 'see your calendar', firstLines)])
  element('note').value = await readNote()
}

// Revokes the token at the server, so that a copy of it is useless.
async function signOut() {
  await post(server.revocation_endpoint, { token: tokens().refresh_token })
  sessionStorage.removeItem('tokens')
  say('You are signed out.')
}

// Shows any error; fetch throws a TypeError when the server cannot be reached.
async function attempt(action) {
  await action().catch((error) => say(error instanceof TypeError ? 'Your club cannot be reached.' : error.message))
  element('sign-in').hidden = tokens() !== null
  element('club').hidden = tokens() === null
}

element('sign-in').onclick = () => attempt(signIn)
element('sign-out').onclick = () => attempt(signOut)
element('save').onclick = () => attempt(saveNote)

// The server's metadata (RFC 8414) has its endpoints.
let server
await attempt(async () => {
  const { origin, pathname } = new URL(issuer)
  server = await (await fetch(`${origin}/.well-known/oauth-authorization-server${pathname}`)).json()
  if (server.issuer !== issuer) return fail('This is not the server that your club signs in at.')
  const answer = Object.fromEntries(new URLSearchParams(location.search))
  if (answer.state) await finishSignIn(answer)
  if (tokens()) await showClub()
})
