import { buildRequest, renderCode } from './code.js'

// Writes the code of what a form contains, and shows another language without leaving the page and its forms.

/** By form: what the code of the service sends, and its elements. */
const written = new Map()
const findBlock = (form) => form.closest('section').querySelector('[data-code]')

export const keepCode = (form, call) =>
  written.set(form, { start: buildRequest(call), nodes: [...findBlock(form).querySelector('code').childNodes] })

/** Code that a library wrote gets the address alone. */
export function showCode(form, call) {
  const block = findBlock(form)
  const code = block.querySelector('code')
  const { start, nodes } = written.get(form)
  const now = buildRequest(call)
  code.replaceChildren(...nodes)
  if (JSON.stringify(now) === JSON.stringify(start)) return
  code.textContent = renderCode(call)[block.dataset.code] ?? code.textContent.replaceAll(start.url, () => now.url)
}

/** Takes the code of all operations from the page in that language. */
export async function showLanguage(link) {
  const response = await fetch(link.href)
  if (!response.ok) throw new Error(String(response.status))
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const section = link.closest('section')
  const { top } = section.getBoundingClientRect()
  for (const [form, one] of written) {
    const other = page.getElementById(form.closest('section').id)
    const block = findBlock(form)
    const otherBlock = other.querySelector('[data-code]')
    form.closest('section').querySelector('.tabs').replaceWith(other.querySelector('.tabs'))
    block.dataset.code = otherBlock.dataset.code
    one.nodes = [...otherBlock.querySelector('code').childNodes]
  }
  history.replaceState(null, '', link.href)
  return () => {
    scrollBy({ top: section.getBoundingClientRect().top - top, behavior: 'instant' })
    section.querySelector('.tabs [aria-current]').focus({ preventScroll: true })
  }
}
