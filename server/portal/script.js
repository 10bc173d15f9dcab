// Every page works without this script. It closes menus, asks before changes are lost, and keeps the list of requests current.
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
document.addEventListener('submit', () => {
  isChanged = false
})
addEventListener('beforeunload', (event) => isChanged && event.preventDefault())

const tail = document.querySelector('[data-tail]')
if (tail) {
  const button = tail.querySelector('button')
  let timer
  // Asks for the rows that came since the newest one of the page, by the page's own filters.
  const poll = async () => {
    const query = new URLSearchParams(location.search)
    query.delete('before')
    query.set('after', tail.dataset.tail)
    const response = await fetch(`${location.pathname}?${query}`, { redirect: 'error' }).catch(() => null)
    if (!response?.ok) return stop()
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const rows = page.querySelectorAll('main table tbody > tr')
    if (rows.length > 0 && !document.querySelector('main table tbody')) return location.reload()
    tail.dataset.tail = page.querySelector('[data-tail]')?.dataset.tail || tail.dataset.tail
    document.querySelector('main table tbody')?.prepend(...rows)
    const shown = document.querySelectorAll('main table tbody > tr')
    for (const old of [...shown].slice(Number(tail.dataset.most))) old.remove()
    timer = setTimeout(poll, 2_000)
  }
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
    button.ariaPressed = 'false'
  }
  button.addEventListener('click', () => {
    if (timer !== undefined) return stop()
    timer = setTimeout(poll, 0)
    button.ariaPressed = 'true'
  })
  tail.hidden = false
}
