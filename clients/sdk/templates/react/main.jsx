import { createClient } from '@member-apps/sdk'
import { browserSignIn } from '@member-apps/sdk/browser'
import { useEffect, useReducer } from 'react'
import { createRoot } from 'react-dom/client'

const { VITE_CLIENT_ID: clientId, VITE_ISSUER: issuer, VITE_APPS: apps } = import.meta.env
const scope = 'svc.me.profile:read svc.me.groups:read svc.apps.storage:read svc.apps.storage:write'
const auth = browserSignIn({ issuer, clientId, redirectUri: `${location.origin}/`, scope })
const api = createClient({ apps, tokens: auth.tokens })
const notes = api.storage('notes')

async function showMember(update) {
  const [{ firstName }, groups] = await Promise.all([api.me.profile(), api.me.groups()])
  update({ firstName, groups: groups.items })
}
async function showNotes(update) {
  update({ entries: await Array.fromAsync(notes) })
}
async function addNote(update, event) {
  event.preventDefault()
  await notes.put(`${Date.now()}`, { text: event.target.elements.text.value }, { ifNoneMatch: '*' })
  event.target.reset()
  await showNotes(update)
}
async function start(update) {
  await auth.finish()
  if (await auth.isSignedIn()) await Promise.all([showMember(update), showNotes(update)])
}
async function attempt(update, action) {
  update({ error: '' })
  await action().catch(({ message }) => update({ error: message }))
  update({ isSignedIn: await auth.isSignedIn() })
}

function Page() {
  const [state, update] = useReducer((state, part) => ({ ...state, ...part }), { groups: [], entries: [] })
  useEffect(() => {
    attempt(update, () => start(update))
  }, [])
  const signIn = () => attempt(update, auth.signIn)
  const signOut = () => attempt(update, () => auth.signOut().then(() => location.reload()))

  return (
    <>
      <h1>My page</h1>
      <p role="alert">{state.error}</p>
      {state.isSignedIn === false && (
        <button type="button" onClick={signIn}>
          Sign in with your club
        </button>
      )}
      {state.isSignedIn && (
        <>
          <p>Hello {state.firstName}</p>
          <h2>Your groups</h2>
          <ul>
            {state.groups.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
          <h2>Notes</h2>
          <ul>
            {state.entries.map(({ key, value }) => (
              <li key={key}>{value.text}</li>
            ))}
          </ul>
          <form onSubmit={(event) => attempt(update, () => addNote(update, event))}>
            <label htmlFor="text">New note</label> <input id="text" name="text" required />{' '}
            <button type="submit">Add</button>
          </form>
          <p>
            <button type="button" onClick={signOut}>
              Sign out
            </button>
          </p>
        </>
      )}
    </>
  )
}

createRoot(document.getElementById('page')).render(<Page />)
