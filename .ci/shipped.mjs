// The entries of package-lock.json that ship to production: what `npm ci --omit=dev` installs, and what dist contains.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** As [path, entry], for an installation with its dist. */
export function shippedIn(directory) {
  const read = (path) => readFileSync(join(directory, path), 'utf8')
  const bundled = new Set([...read('dist/third-party.txt').matchAll(/^## (\S+@\S+) \(/gm)].map(([, name]) => name))
  const shipped = Object.entries(JSON.parse(read('package-lock.json')).packages).filter(
    ([path, { dev, version }]) => path !== '' && (!dev || bundled.has(toName(path, version))),
  )
  const locked = new Set(shipped.map(([path, { version }]) => toName(path, version)))
  const others = [...bundled].filter((name) => !locked.has(name))
  if (others.length > 0) throw new Error(`dist was built with other packages than package-lock.json has: ${others}`)
  return shipped
}

export const toName = (path, version) => `${path.replace(/^.*node_modules\//, '')}@${version}`
