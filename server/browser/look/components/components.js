// Every page works without this script. It adds copy buttons, and shows times in the reader's time zone.
{
  const { copy, copied } = document.currentScript.dataset
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties)

  const addCopyButton = (code) => {
    const button = make('button', { type: 'button', className: 'copy', ariaLive: 'polite' })
    const show = (text) => {
      button.textContent = text
      button.append(make('span', { className: 'visually-hidden', textContent: `: ${code.dataset.copy}` }))
    }
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent)
      show(copied)
      setTimeout(show, 2_000, copy)
    })
    show(copy)
    code.dataset.copying = ''
    const block = code.closest('.block')
    if (block) block.prepend(button)
    else code.after(button)
  }

  const locale = document.documentElement.lang === 'de' ? 'de-DE' : 'en-GB'
  const format = (options) => new Intl.DateTimeFormat(locale, options)
  const day = format({ dateStyle: 'medium' })
  const clock = format({ timeStyle: 'medium' })
  const withFraction = format({ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 })
  const exact = format({ dateStyle: 'medium', timeStyle: 'long' })

  const showLocal = (time) => {
    const date = new Date(time.dateTime)
    const [first, second] = time.children
    time.dataset.local = ''
    time.title = exact.format(date)
    if (first) first.textContent = day.format(date)
    if (second) second.textContent = (/[.,]\d{3}$/.test(second.textContent) ? withFraction : clock).format(date)
  }
  const enhance = () => {
    document.querySelectorAll('time[datetime]:not([data-local])').forEach(showLocal)
    // Only pages at https and at localhost have the clipboard.
    if (navigator.clipboard) document.querySelectorAll('code[data-copy]:not([data-copying])').forEach(addCopyButton)
  }
  enhance()
  // Rows that come while the page is open.
  new MutationObserver(enhance).observe(document.body, { childList: true, subtree: true })

  for (const note of document.querySelectorAll('[data-zone]')) {
    note.textContent = `${note.dataset.zone} ${exact.resolvedOptions().timeZone}.`
  }
  for (const bar of document.querySelectorAll('svg g[data-at]')) {
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title')
    title.textContent = `${exact.format(new Date(bar.dataset.at * 1_000))}\n${bar.dataset.text}`
    bar.prepend(title)
  }
}
