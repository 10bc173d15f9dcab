// Fails when a package that ships to production has a licence that is not listed here, or none, and names it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shippedIn } from './shipped.mjs'

/**
 * Permissive ones (SPDX), and the Open Font License, which binds typefaces alone. Copyleft is left out; what is new is looked at
 * first.
 */
const ALLOWED = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'OFL-1.1',
]

/** Packages whose code is in member-apps-client and in @member-apps/sdk. */
const BUNDLED = ['node_modules/@trpc/client', 'node_modules/oauth4webapi', 'node_modules/uqr']

/** One allowed licence of a choice, as `(BSD-3-Clause OR GPL-2.0)`, is enough. */
const isAllowed = (licence = '') =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((one) => ALLOWED.includes(one))

const directory = process.argv[2] ?? '.'
const read = (path) => JSON.parse(readFileSync(join(directory, path), 'utf8'))

const { packages } = read('package-lock.json')
const shipped = Object.entries({
  ...Object.fromEntries(BUNDLED.filter((path) => packages[path]).map((path) => [path, packages[path]])),
  ...Object.fromEntries(shippedIn(directory)),
})
const wrong = shipped.flatMap(([path, { version, license }]) => {
  // Packages of other systems are not installed: of these the lock knows the licence.
  const own = existsSync(join(directory, path, 'package.json')) ? read(join(path, 'package.json')).license : license
  return [license, own].every(isAllowed) ? [] : [`${path}@${version}: ${own ?? 'no licence'}\n`]
})
process.stdout.write(
  `${shipped.length} packages ship; licences that are not allowed: ${wrong.length}\n${wrong.join('')}`,
)
process.exit(wrong.length === 0 ? 0 : 1)
