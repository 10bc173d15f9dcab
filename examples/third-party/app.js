// Signs a club member in, then calls the API, with the files of @member-apps/sdk. No build step and no secret.
import { browserSignIn, SignInFailed } from '/sdk/browser.js'
import { ApiError, createClient, ScopeMissing, SignInNeeded } from '/sdk/client.js'

const scopes = ['svc.me.profile:read', 'svc.me.groups:read', 'svc.me.events:read']
const scope = [...scopes, 'svc.apps.storage:read', 'svc.apps.storage:write'].join(' ')
const UNREACHABLE = 'Your club cannot be reached right now. Please try again later.'
const element = (id) => document.getElementById(id)
const say = (text, className = '') => Object.assign(element('message'), { className }).replaceChildren(text)

// The reader's first language that the app supports, with its region, which decides how dates are written.
const locale = navigator.languages.find((tag) => /^(en|de)\b/i.test(tag)) ?? 'en-GB'
const language = locale.slice(0, 2).toLowerCase()
const words = language === 'de' ? await fetch('/de.json').then((response) => response.json()) : {}
const t = (text) => words[text] ?? text

const { api: apps, sync, issuer, client_id: clientId } = await (await fetch('/config.json')).json()
const HERE = `${location.origin}/`
const auth = browserSignIn({ issuer, clientId, redirectUri: HERE, scope })
const api = createClient({ apps, sync, tokens: auth.tokens })

/** An error in the reader's language; `fetch` throws a TypeError when the server cannot be reached. */
function problem(error) {
  if (error instanceof SignInNeeded) return t('Your sign-in has ended. Please sign in again.')
  if (error instanceof TypeError || error.code === 'temporarily_unavailable') return t(UNREACHABLE)
  if (!(error instanceof SignInFailed)) return error.message
  if (error.code === 'not_begun_here') return t('This sign-in was not begun here. Please sign in again.')
  if (error.code === 'access_denied') return t('You did not allow Clubnote. Nothing was read or stored.')
  return `${t('Signing in did not work:')} ${error.message}`
}

function make(tag, fields, ...children) {
  const made = Object.assign(document.createElement(tag), fields)
  made.append(...children)
  return made
}
const isolated = (text) => make('bdi', {}, text)

// Fills a part of the page with the API's answer, or gives the reason for its absence: `refused` without the scope.
async function show(id, read, refused, render) {
  const tag = element(id).localName === 'ul' ? 'li' : 'span'
  const fill = (...parts) => element(id).replaceChildren(...parts)
  const hint = (text) => fill(make(tag, { className: 'hint loose' }, text))
  hint(t('Loading…'))
  try {
    const parts = render(await read())
    if (parts.length > 0) fill(...parts)
    else hint(t(element(id).dataset.none))
  } catch (error) {
    fill()
    if (!(error instanceof ApiError) || error instanceof SignInNeeded) throw error
    hint(error instanceof ScopeMissing ? t(refused) : error.message)
  }
}

function profile({ firstName, lastName, email }) {
  element('name').replaceChildren(isolated(`${firstName} ${lastName}`))
  element('initials').replaceChildren(...[firstName, lastName].map((name) => [...name].slice(0, 1).join('')))
  return [isolated(email)]
}

const clock = { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' }
function event({ title, start, end, location: place }) {
  const [from, to] = [new Date(start * 1000), new Date(end * 1000)]
  // Sat 12 Dec, 18:00 – 19:30, in the reader's language and time zone; a date in another year includes the year.
  const year = to.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }
  const text = new Intl.DateTimeFormat(locale, { ...clock, ...year }).formatRange(from, to)
  const when = make('time', { dateTime: from.toISOString() }, text)
  return make('li', {}, when, make('h3', {}, isolated(title)), make('p', { className: 'hint' }, isolated(place)))
}
const group = ({ name, role }) => make('li', {}, isolated(name), ' ', make('span', { className: 'role' }, t(role)))

async function showClub() {
  const { profile: me, events, groups } = api.me
  await Promise.all([
    show('email', me, 'You did not allow Clubnote to see your name.', profile),
    show('events', events, 'You did not allow Clubnote to see your calendar.', ({ items }) =>
      items.slice(0, 5).map(event),
    ),
    show('groups', groups, 'You did not allow Clubnote to see your groups.', ({ items }) => items.map(group)),
  ])
}

// The scores that all members of the club share: a change shows at once wherever the page is open.
const scores = api.storage('scores')
const board = scores.live()
let stopFollowing = () => {}
const readPoints = (value) => Number(value?.points) || 0
const NOT_READ = 'You did not allow Clubnote to read the scores.'

function stateOfBoard() {
  if (board.state === 'loading') return t('Loading…')
  if (board.state === 'offline') return t('Not connected: these scores may be old.')
  if (board.state === 'ended') return board.error instanceof ScopeMissing ? t(NOT_READ) : problem(board.error)
  return board.entries.size === 0 ? t('Nobody has points yet.') : ''
}

// By key: a row stays what it is, so that a change does not take it from under the pointer.
const rows = new Map()
function renderRow({ key, value }) {
  const name = String(value?.name ?? key)
  const { li, points } = rows.get(key) ?? newRow(key, name)
  points.textContent = readPoints(value)
  return li
}
function newRow(key, name) {
  const add = make(
    'button',
    { type: 'button', ariaLabel: `+1 ${name}`, onclick: () => attempt(() => addPoint(key, name)) },
    '+1',
  )
  const points = make('output')
  const row = { points, li: make('li', {}, isolated(name), points, add) }
  rows.set(key, row)
  return row
}

function showBoard() {
  const focused = document.activeElement
  const entries = [...board.entries.values()].sort((a, b) => readPoints(b.value) - readPoints(a.value))
  const list = entries.map(renderRow)
  const shown = [...element('scores').children]
  if (shown.length !== list.length || list.some((li, i) => li !== shown[i])) element('scores').replaceChildren(...list)
  focused.focus()
  element('board').textContent = stateOfBoard()
  for (const control of element('score-form').elements) control.disabled = board.state !== 'current'
}

const inWords = (error) => {
  if (!(error instanceof ScopeMissing)) throw error
  throw new Error(t('You did not allow Clubnote to change the scores.'), { cause: error })
}
// When two members press at once, both points count.
const addPoint = (key, name) =>
  scores.update(key, (value) => ({ name, points: readPoints(value) + 1 })).then(() => '', inWords)

async function addName() {
  const name = element('score-name').value.trim()
  await scores.put(Math.random().toString(36).slice(2), { name, points: 0 }, { ifNoneMatch: '*' }).catch(inWords)
  element('score-form').reset()
  return `${t('Added:')} ${name}`
}

// Ends the member's session at the club, which asks them and sends them back here. It does not end the consent: who signs in
// again is asked who they are, and only about what is new. `auth.signOut` would revoke the tokens, and end it.
const LEFT = 'signed out'
async function signOut() {
  const { end_session_endpoint: end } = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
  stopFollowing()
  await auth.forget()
  sessionStorage.setItem(LEFT, 'yes')
  location.assign(`${end}?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: HERE })}`)
}

async function showState() {
  const isSignedIn = await auth.isSignedIn()
  for (const id of ['club', 'sign-out']) element(id).hidden = !isSignedIn
  element('welcome').hidden = isSignedIn
}

// Shows the action's result or its error, once the page shows the new state.
async function attempt(action) {
  say('')
  const failed = (error) => [problem(error), 'problem']
  const [text, className] = await action().then((done) => [done, 'done'], failed)
  await showState()
  if (text) say(text, className)
}

document.documentElement.lang = language
for (const translated of document.querySelectorAll('[data-text]')) translated.textContent = t(translated.textContent)
element('sign-in').onclick = () => attempt(() => auth.signIn())
element('sign-out').onclick = () => attempt(signOut)
element('score-form').onsubmit = (submitted) => {
  submitted.preventDefault()
  return attempt(addName)
}

Object.assign(element('connected'), { href: `${issuer}/connected`, hidden: false })

await attempt(async () => {
  await auth.finish()
  await showState()
  const hasLeft = sessionStorage.getItem(LEFT)
  sessionStorage.removeItem(LEFT)
  if (!(await auth.isSignedIn())) return hasLeft && t('You are signed out.')
  stopFollowing = board.subscribe(showBoard)
  showBoard()
  await showClub()
})
