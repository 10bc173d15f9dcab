// The documentation and the reference are complete without this script. It adds the search and the copy buttons.

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
const MAX_RESULTS = 12
const [IN_HEADING, HEADING_STARTS, IN_TEXT, TEXT_STARTS, IN_TITLE] = [12, 8, 2, 1, 4]

/** Fetched when the field is used first. */
let index
const load = () => {
  index ??= fetch(form.dataset.index).then(async (response) => {
    const { pages, sections, words, stop } = await response.json()
    let word = ''
    const lines = words.split(',').map((line) => {
      const [[shared, ...rest], ...distances] = line.split(' ')
      word = word.slice(0, Number.parseInt(shared, 36)) + rest.join('')
      let at = 0
      return [word, distances.map((distance) => (at += Number.parseInt(distance, 36)))]
    })
    return { pages, sections, lines, stop: new Set(stop.split(' ')), url: response.url }
  })
  return index
}

const splitWords = (text) => text.toLowerCase().match(/[\p{L}\d_]+/gu) ?? []

/** What each section has of one word, whole or as its beginning. */
function scoreWord(word, { pages, sections, lines }) {
  const scores = new Map()
  const add = (section, score) => scores.set(section, (scores.get(section) ?? 0) + score)
  for (const [other, at] of lines) {
    if (other.startsWith(word)) for (const section of at) add(section, other === word ? IN_TEXT : TEXT_STARTS)
  }
  sections.forEach(([page, , heading], section) => {
    const own = splitWords(heading)
    if (own.includes(word)) add(section, IN_HEADING)
    else if (own.some((one) => one.startsWith(word))) add(section, HEADING_STARTS)
    if (scores.has(section) && splitWords(pages[page][1]).some((one) => one.startsWith(word))) add(section, IN_TITLE)
  })
  return scores
}

/** The sections that have every word, best first. */
function search(text, known) {
  const words = splitWords(text)
  const telling = words.filter((word) => !known.stop.has(word))
  const [first, ...others] = (telling.length > 0 ? telling : words).map((word) => scoreWord(word, known))
  return [...(first ?? [])]
    .filter(([section]) => others.every((scores) => scores.has(section)))
    .map(([section, score]) => [section, others.reduce((sum, scores) => sum + scores.get(section), score)])
    .sort(([a, one], [b, other]) => other - one || a - b)
    .map(([section]) => section)
}

function renderResult([page, id, heading], { pages, url }) {
  const [address, title] = pages[page]
  const link = make('a', { href: new URL(`${address}${id && `#${id}`}`, url), textContent: heading })
  link.append(make('span', { textContent: title }))
  const item = make('li')
  item.append(link)
  return item
}

async function show() {
  const text = input.value
  const known = await load()
  if (text !== input.value) return
  const sections = search(text, known)
  results.replaceChildren(...sections.slice(0, MAX_RESULTS).map((at) => renderResult(known.sections[at], known)))
  if (text.trim() !== '' && sections.length === 0) results.append(make('li', { textContent: 'Nothing found' }))
  results.hidden = text.trim() === ''
  found.textContent = results.hidden ? '' : `${sections.length} found`
}

function close() {
  input.value = ''
  results.hidden = true
  found.textContent = ''
}

/** Up and down move between the field and its results. */
function move(step) {
  const stops = [input, ...results.querySelectorAll('a')]
  const at = stops.indexOf(document.activeElement)
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus()
}

form.hidden = false
form.addEventListener('focusin', load, { once: true })
input.addEventListener('input', show)
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  await show()
  results.querySelector('a')?.click()
})
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
const below = current.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom
if (below > 0) list.scrollTop += below + list.clientHeight / 3
