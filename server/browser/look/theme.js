// Pages are in the system's theme without this script, which adds a button for another one. The head loads it, so that no page is
// shown in the wrong theme first.
{
  const words = document.currentScript.dataset
  const root = document.documentElement
  const names = ['system', 'light', 'dark']
  const KEY = 'theme'
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'theme',
    ariaLive: 'polite',
  })
  let current = 0

  const show = (name) => {
    current = Math.max(names.indexOf(name), 0)
    if (current === 0) delete root.dataset.theme
    else root.dataset.theme = names[current]
    button.textContent = words[names[current]]
  }

  // Throws in a browser that keeps nothing for this site.
  const attempt = (act) => {
    try {
      return act()
    } catch {
      return undefined
    }
  }
  const showKept = () => show(attempt(() => localStorage.getItem(KEY)))

  button.addEventListener('click', () => {
    const name = names[(current + 1) % names.length]
    attempt(() => localStorage.setItem(KEY, name))
    show(name)
  })
  showKept()
  document.addEventListener('DOMContentLoaded', () =>
    (document.querySelector('[data-theme-button]') ?? document.querySelector('header')).append(button),
  )
  // Chosen on another page: in another window, or after which this one is shown again.
  addEventListener('storage', showKept)
  addEventListener('pageshow', ({ persisted }) => persisted && showKept())
}
