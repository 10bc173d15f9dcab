// Fails when a package that ships to production has a licence that is not listed here, or none, and names it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Permissive ones (SPDX). Copyleft is left out; what is new is looked at first. */
const ALLOWED = ['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0']

/** Development dependencies whose code is in what we publish: in member-apps-client, and in @member-apps/sdk. */
const BUNDLED = ['node_modules/@trpc/client', 'node_modules/oauth4webapi']

const directory = process.argv[2] ?? '.'
const read = (path) => JSON.parse(readFileSync(join(directory, path), 'utf8'))

// `devOptional` is what the development dependencies bring, and production could take if it were there: Prisma's tools.
const shipped = Object.entries(read('package-lock.json').packages).filter(
  ([path, { dev, devOptional }]) => BUNDLED.includes(path) || (path !== '' && !dev && !devOptional),
)
const wrong = shipped.flatMap(([path, { version, license }]) => {
  // Packages of other systems are not installed: of these the lock knows the licence.
  const own = existsSync(join(directory, path, 'package.json')) ? read(join(path, 'package.json')).license : license
  return [license, own].every((one) => ALLOWED.includes(one)) ? [] : [`${path}@${version}: ${own ?? 'no licence'}\n`]
})
process.stdout.write(
  `${shipped.length} packages ship; licences that are not allowed: ${wrong.length}\n${wrong.join('')}`,
)
process.exit(wrong.length === 0 ? 0 : 1)
