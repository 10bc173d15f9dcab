// The licences of the packages in dist, which must accompany every copy. .ci/shipped.mjs reads the headings.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The texts of packages that come without theirs. */
const texts = { '@iconify-json/lucide': 'browser/look/icons/lucide-licence.txt' }

/** One text for the packages that have these modules. */
export function readNotices(moduleIds) {
  const directories = moduleIds.flatMap(
    (id) => id.match(/^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/)?.[0] ?? [],
  )
  const notices = new Set([...new Set(directories)].map(readNotice))
  return `dist contains code of these ${notices.size} packages.\n${[...notices].sort().join('')}`
}

function readNotice(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const text = texts[name] ? readFileSync(join(import.meta.dirname, texts[name]), 'utf8') : licenceIn(directory)
  return `\n## ${name}@${version} (${license})\n\n${text.trim()}\n`
}

/** Some packages print their licence only in the README. */
function licenceIn(directory) {
  const names = readdirSync(directory)
  const read = (pattern) =>
    names.filter((name) => pattern.test(name)).map((name) => readFileSync(join(directory, name), 'utf8'))
  const files = read(/^(licen[cs]e|notice)/i)
  if (files.length > 0) return files.join('\n')
  const readme = read(/^readme/i).join('')
  const section = /^#+ licen[cs]e\s+(.*)/ims.exec(readme)?.[1].split(/^[#[]/m)[0]
  if (!section) throw new Error(`${directory} has no licence text.`)
  return section
}
