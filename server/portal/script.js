// Every page works without this script. It closes menus, asks before changes are lost, and keeps the list of requests and pending
// deliveries current.
const closeMenus = (but) => {
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(but)) menu.open = false
}
document.addEventListener('click', ({ target }) => closeMenus(target))
document.addEventListener('keydown', ({ key }) => key === 'Escape' && closeMenus(null))

let isChanged = false
for (const form of document.querySelectorAll('form[data-unsaved]')) {
  form.addEventListener('input', () => {
    isChanged = true
  })
}

// A second click would do a form's work twice, and show the second result alone. No event says that a reader has stopped the first
// one: 30 s is more than any request takes.
let sent = null
const forget = () => {
  sent = null
}
document.addEventListener('submit', (event) => {
  isChanged = false
  if (event.target.method !== 'post') return
  if (event.target === sent) return event.preventDefault()
  sent = event.target
  setTimeout(forget, 30_000)
})
// A page that "back" returns to as it was.
addEventListener('pageshow', ({ persisted }) => persisted && forget())
addEventListener('beforeunload', (event) => isChanged && event.preventDefault())

// Null where none follows: signed out, or without access. Undefined after a failure that may pass.
const readPage = async (query) => {
  try {
    const response = await fetch(`${location.pathname}?${query}`, { redirect: 'manual' })
    if (response.ok) return new DOMParser().parseFromString(await response.text(), 'text/html')
    return response.status === 429 || response.status >= 500 ? undefined : null
  } catch {}
}
const later = (step, page) => setTimeout(step, page === undefined ? 10_000 : 2_000)
const isRead = () =>
  document.hidden || isChanged || sent !== null || document.querySelector('main :is(details[open], :focus)') !== null

// A page of pending deliveries is read again until they have ended.
const refresh = async () => {
  let page = document
  if (!isRead()) {
    const query = new URLSearchParams(location.search)
    query.delete('done')
    page = await readPage(query)
    if (page === null) return
    if (page && !isRead()) document.querySelector('main').replaceWith(page.querySelector('main'))
  }
  follow(page)
}
const follow = (page) => document.querySelector('[data-pending]') && later(refresh, page)
follow(document)

const tail = document.querySelector('[data-tail]')
if (tail) {
  const button = tail.querySelector('button')
  let timer
  // Asks for the rows that came since the newest one of the page, by the page's own filters.
  const poll = async () => {
    const query = new URLSearchParams(location.search)
    query.delete('before')
    query.set('after', tail.dataset.tail)
    const page = await readPage(query)
    if (page === null) return stop()
    if (page === undefined) {
      timer = later(next)
      return
    }
    const rows = page.querySelectorAll('main table tbody > tr')
    if (rows.length > 0 && !document.querySelector('main table tbody')) return location.reload()
    tail.dataset.tail = page.querySelector('[data-tail]')?.dataset.tail || tail.dataset.tail
    document.querySelector('main table tbody')?.prepend(...rows)
    const shown = document.querySelectorAll('main table tbody > tr')
    for (const old of [...shown].slice(Number(tail.dataset.most))) old.remove()
    timer = setTimeout(next, 2_000)
  }
  const next = () => {
    if (document.hidden) timer = setTimeout(next, 2_000)
    else poll()
  }
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
    button.ariaPressed = 'false'
  }
  const start = (ms) => {
    timer = setTimeout(next, ms)
    button.ariaPressed = 'true'
  }
  button.addEventListener('click', () => (timer === undefined ? start(0) : stop()))
  start(2_000)
  tail.hidden = false
}
