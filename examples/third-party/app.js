// Signs a club member in with OAuth 2.0 and PKCE, then calls the API. No build step and no secret.
const scopes = ['svc.me.profile:read', 'svc.me.groups:read', 'svc.me.events:read']
const scope = [...scopes, 'svc.apps.storage:read', 'svc.apps.storage:write'].join(' ')
const redirect_uri = `${location.origin}/`
const UNREACHABLE = 'Your club cannot be reached right now. Please try again later.'
const element = (id) => document.getElementById(id)
const say = (text, kind = '') => Object.assign(element('message'), { className: kind }).replaceChildren(text)
const fail = (text, more = '') => Promise.reject(new Error(`${t(text)} ${more}`.trim()))
// sessionStorage: for this tab only, until it is closed.
const tokens = () => JSON.parse(sessionStorage.getItem('tokens'))

// The reader's first language of those that the app has, with its region: it decides how dates are written.
const locale = navigator.languages.find((tag) => /^(en|de)\b/i.test(tag)) ?? 'en-GB'
const language = locale.slice(0, 2).toLowerCase()
const words = language === 'de' ? await fetch('/de.json').then((response) => response.json()) : {}
const t = (text) => words[text] ?? text

// The app's settings, and the server's metadata (RFC 8414), which has its endpoints.
let config
let server
async function connect() {
  if (server) return
  config = await (await fetch('/config.json')).json()
  Object.assign(element('connected'), { href: `${config.issuer}/connected`, hidden: false })
  const { origin, pathname } = new URL(config.issuer)
  const metadata = await (await fetch(`${origin}/.well-known/oauth-authorization-server${pathname}`)).json()
  if (metadata.issuer !== config.issuer) return fail('This is not the server that your club signs in at.')
  server = metadata
}

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_' })[c] ?? '')
const post = (url, fields) =>
  fetch(url, { method: 'POST', body: new URLSearchParams({ client_id: config.client_id, ...fields }) })

async function signIn() {
  await connect()
  const [state, verifier] = [crypto.randomUUID(), crypto.randomUUID() + crypto.randomUUID()]
  sessionStorage.setItem('signIn', JSON.stringify({ state, verifier }))
  const code_challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const pkce = { code_challenge, code_challenge_method: 'S256' }
  const query = { response_type: 'code', client_id: config.client_id, redirect_uri, scope, state, ...pkce }
  location.assign(`${server.authorization_endpoint}?${new URLSearchParams(query)}`)
}

// The member is back. Accepts only an answer to this tab's request (state) from the server that it asked (iss).
async function finishSignIn({ state, iss, code, error, error_description }) {
  const begun = JSON.parse(sessionStorage.getItem('signIn'))
  sessionStorage.removeItem('signIn')
  history.replaceState(null, '', '/')
  const isOurs = begun?.state === state && iss === config.issuer
  if (!isOurs) return fail('This sign-in was not begun here. Please sign in again.')
  if (error === 'access_denied') return fail('You did not allow Clubnote. Nothing was read or stored.')
  if (error) return fail('Signing in did not work:', error_description)
  return takeTokens({ grant_type: 'authorization_code', code, redirect_uri, code_verifier: begun.verifier })
}

async function takeTokens(fields) {
  const response = await post(server.token_endpoint, fields)
  if (response.ok) return sessionStorage.setItem('tokens', await response.text())
  if (response.status >= 500) return fail(UNREACHABLE)
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
  const response = await fetch(`${config.api}${path}`, { ...init, headers })
  if (response.status === 401 && again) return refresh().then(() => call(path, init, false))
  return response
}

// The message for a refusal. 403: the member did not allow this scope.
async function problem(response, refused) {
  const { detail, error } = await response.json()
  return response.status === 403 ? t(refused) : (detail ?? error.message)
}

function make(tag, fields, ...children) {
  const made = Object.assign(document.createElement(tag), fields)
  made.append(...children)
  return made
}
const isolated = (text) => make('bdi', {}, text)

// Fills a part of the page with the answer of the API, or gives the reason for its absence.
async function show(id, path, refused, render) {
  const tag = element(id).localName === 'ul' ? 'li' : 'span'
  const fill = (...parts) => element(id).replaceChildren(...parts)
  const hint = (text) => fill(make(tag, { className: 'hint loose' }, text))
  hint(t('Loading…'))
  const response = await call(path).finally(() => fill())
  if (!response.ok) return hint(await problem(response, refused))
  const parts = render(await response.json())
  return parts.length > 0 ? fill(...parts) : hint(t(element(id).dataset.none))
}

function profile({ firstName, lastName, email }) {
  element('name').replaceChildren(isolated(`${firstName} ${lastName}`))
  element('initials').replaceChildren(...[firstName, lastName].map((name) => [...name].slice(0, 1).join('')))
  return [isolated(email)]
}

const clock = { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' }
function event({ title, start, end, location: place }) {
  const [from, to] = [new Date(start * 1000), new Date(end * 1000)]
  // Sat 12 Dec, 18:00 – 19:30, in the reader's language and time zone; a date of another year has its year.
  const year = to.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }
  const text = new Intl.DateTimeFormat(locale, { ...clock, ...year }).formatRange(from, to)
  const when = make('time', { dateTime: from.toISOString() }, text)
  return make('li', {}, when, make('h3', {}, isolated(title)), make('p', { className: 'hint' }, isolated(place)))
}
const group = ({ name, role }) => make('li', {}, isolated(name), ' ', make('span', { className: 'role' }, t(role)))

async function showClub() {
  await Promise.all([
    show('email', '/me/profile', 'You did not allow Clubnote to see your name.', profile),
    show('events', '/me/events', 'You did not allow Clubnote to see your calendar.', ({ items }) =>
      items.slice(0, 5).map(event),
    ),
    show('groups', '/me/groups', 'You did not allow Clubnote to see your groups.', ({ items }) => items.map(group)),
    showNote(),
  ])
}

// The version of the note that this tab has read; null: no note yet.
const note = '/storage/notes/note?scope=user'
let etag
async function readNote() {
  const response = await call(note)
  const refused = 'You did not allow Clubnote to read its notes.'
  if (!response.ok && response.status !== 404) return fail('', await problem(response, refused))
  etag = response.headers.get('etag')
  return response.ok ? (await response.json()).value : ''
}

// Only then can it be written: nothing typed before is lost.
async function showNote() {
  element('note').value = await readNote()
  for (const control of element('note-form').elements) control.disabled = false
}

async function saveNote() {
  const headers = { 'content-type': 'application/json', ...(etag ? { 'if-match': etag } : { 'if-none-match': '*' }) }
  const response = await call(note, { method: 'PUT', headers, body: JSON.stringify({ value: element('note').value }) })
  if (response.status === 412) return fail('Another tab has written this. Save again to replace it:', await readNote())
  if (!response.ok) return fail('', await problem(response, 'You did not allow Clubnote to keep a note.'))
  etag = response.headers.get('etag')
  say(t('Your note is saved.'), 'done')
}

// Revokes the token at the server, so that a copy of it is useless.
async function signOut() {
  await connect()
  await post(server.revocation_endpoint, { token: tokens().refresh_token })
  sessionStorage.removeItem('tokens')
  say(t('You are signed out.'), 'done')
}

function showState() {
  const isSignedIn = tokens() !== null
  for (const id of ['club', 'sign-out']) element(id).hidden = !isSignedIn
  element('welcome').hidden = isSignedIn
}

// Shows any error; fetch throws a TypeError when the server cannot be reached.
async function attempt(action) {
  say('')
  await action().catch((error) => say(error instanceof TypeError ? t(UNREACHABLE) : error.message, 'problem'))
  showState()
}

document.documentElement.lang = language
for (const translated of document.querySelectorAll('[data-text]')) translated.textContent = t(translated.textContent)
element('sign-in').onclick = () => attempt(signIn)
element('sign-out').onclick = () => attempt(signOut).then(() => element('sign-in').focus())
element('note-form').onsubmit = (submitted) => {
  submitted.preventDefault()
  return attempt(saveNote)
}

await attempt(async () => {
  await connect()
  const answer = Object.fromEntries(new URLSearchParams(location.search))
  if (answer.state) await finishSignIn(answer)
  showState()
  if (tokens()) await showClub()
})
