// The documentation and the reference are complete without this script. It adds results while one types, the copy buttons, and the
// mark of the heading that is read.

const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties)

// A keyboard stops only at tables and code that are wider than their place.
const measure = (target) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
  else target.removeAttribute('tabindex')
}
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) measure(target)
})
const wide = document.querySelectorAll('.scrolls, pre')
for (const one of wide) sizes.observe(one)
// The typefaces change the width of a text, but not of its box.
document.fonts.ready.then(() => wide.forEach(measure))

// Only pages at https and at localhost have the clipboard.
if (navigator.clipboard) {
  for (const code of document.querySelectorAll('.block')) {
    const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy', ariaLive: 'polite' })
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.querySelector('code').textContent)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2_000)
    })
    code.prepend(button)
  }
}

const form = document.querySelector('[role=search]')
const input = form.querySelector('input')
const found = form.querySelector('[role=status]')
const results = form.querySelector('ul')
/** In milliseconds, between two letters. */
const PAUSE = 150

/** Every second part is a word that was found. */
const marked = (parts) => parts.map((part, at) => (at % 2 === 1 ? make('mark', { textContent: part }) : part))

function renderHit({ title, heading, excerpt, url }) {
  const text = make('span')
  text.append(...marked(excerpt))
  const link = make('a', { href: url, textContent: heading })
  link.append(make('small', { textContent: title }), text)
  const item = make('li')
  item.append(link)
  return item
}

/** The latest request, which ends the one before. */
let asking = new AbortController()
async function ask(text) {
  const response = await fetch(`/docs/search.json?q=${encodeURIComponent(text)}`, { signal: asking.signal })
  if (!response.ok) throw new Error(String(response.status))
  return (await response.json()).hits
}

function render(items, status) {
  results.replaceChildren(...(items.length > 0 ? items : [make('li', { textContent: status })]))
  results.hidden = false
  found.textContent = status
}

let pause
async function show() {
  clearTimeout(pause)
  asking.abort()
  asking = new AbortController()
  const text = input.value.trim()
  if (text === '') return hide()
  await new Promise((resolve) => {
    pause = setTimeout(resolve, PAUSE)
  })
  const { signal } = asking
  try {
    const hits = await ask(text)
    if (!signal.aborted) render(hits.map(renderHit), hits.length > 0 ? `${hits.length} found` : 'Nothing found')
  } catch {
    // Enter still opens the page of results, which reports the error.
    if (!signal.aborted) render([], 'No results at the moment')
  }
}

function hide() {
  results.hidden = true
  found.textContent = ''
}

function close() {
  clearTimeout(pause)
  asking.abort()
  input.value = ''
  hide()
}

/** Up and down move between the field and its results. */
function move(step) {
  const stops = [input, ...results.querySelectorAll('a')]
  const at = stops.indexOf(document.activeElement)
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus()
}

input.addEventListener('input', show)
results.addEventListener('click', (event) => event.target.closest('a') && close())
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    close()
    input.focus()
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  move(event.key === 'ArrowDown' ? 1 : -1)
})
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget && !form.contains(relatedTarget)) results.hidden = true
})
document.addEventListener('click', ({ target }) => {
  if (!form.contains(target)) results.hidden = true
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea'))
    return
  event.preventDefault()
  input.focus()
})

// The list of pages may be longer than the window.
const list = document.querySelector('.pages')
const current = list.querySelector('[aria-current]')
const below = current ? current.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom : 0
if (below > 0) list.scrollTop += below + list.clientHeight / 3

// "On this page" marks the heading that is read: the last one above this line, or else the first.
const places = [...document.querySelectorAll('.contents a')].map((item) => ({
  item,
  heading: document.getElementById(decodeURIComponent(item.hash.slice(1))),
}))
/** In pixels: a jump leaves the heading above it, and the next one below it. */
const LINE = 96
function follow() {
  const read = places.findLast(({ heading }) => heading.getBoundingClientRect().top <= LINE) ?? places[0]
  for (const { item } of places) {
    if (item !== read.item) item.removeAttribute('aria-current')
    else if (!item.ariaCurrent) {
      item.ariaCurrent = 'location'
      item.closest('nav').scrollTop = item.offsetTop - item.closest('nav').clientHeight / 2
    }
  }
}
const passing = new IntersectionObserver(follow, { rootMargin: `-${LINE}px 0px 0px 0px` })
for (const { heading } of places) passing.observe(heading)
