import { createClient } from '@member-apps/sdk'
import { browserSignIn } from '@member-apps/sdk/browser'

const { VITE_CLIENT_ID: clientId, VITE_ISSUER: issuer, VITE_APPS: apps } = import.meta.env
const scope = 'svc.me.profile:read svc.me.groups:read svc.apps.storage:read svc.apps.storage:write'
const auth = browserSignIn({ issuer, clientId, redirectUri: `${location.origin}/`, scope })
const api = createClient({ apps, tokens: auth.tokens })
const notes = api.storage('notes')
const element = (id) => document.getElementById(id)
const item = (text) => Object.assign(document.createElement('li'), { textContent: text })

async function showMember() {
  const [{ firstName }, groups] = await Promise.all([api.me.profile(), api.me.groups()])
  element('name').textContent = `Hello ${firstName}`
  element('groups').replaceChildren(...groups.items.map(({ name }) => item(name)))
}
async function showNotes() {
  const entries = await Array.fromAsync(notes)
  element('notes').replaceChildren(...entries.map(({ value }) => item(value.text)))
}
async function addNote(event) {
  event.preventDefault()
  await notes.put(`${Date.now()}`, { text: element('text').value }, { ifNoneMatch: '*' })
  event.target.reset()
  await showNotes()
}
async function attempt(action) {
  element('error').textContent = ''
  await action().catch(({ message }) => element('error').append(message))
  element('club').hidden = !(await auth.isSignedIn())
  element('sign-in').hidden = !element('club').hidden
}

element('sign-in').onclick = () => attempt(auth.signIn)
element('sign-out').onclick = () => attempt(() => auth.signOut().then(() => location.reload()))
element('new-note').onsubmit = (event) => attempt(() => addNote(event))
attempt(async () => {
  await auth.finish()
  if (await auth.isSignedIn()) await Promise.all([showMember(), showNotes()])
})
