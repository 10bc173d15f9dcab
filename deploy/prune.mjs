// Removes files from node_modules that no production program reads: source maps, types, Prisma's compilers for other databases,
// and a bundle for browsers, 98 of 145 MB. Run it in an installation, never in a checkout.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const modules = join(process.cwd(), 'node_modules')
if (existsSync(join(modules, 'vitest'))) {
  process.stderr.write('The development dependencies are installed here: nothing was removed.\n')
  process.exit(1)
}
const compiler = /^@prisma\/client\/runtime\/query_compiler_(?!small_bg\.postgresql\.)/
const isUnread = (path) => /\.map$|\.d\.[cm]?ts$|^pngjs\/browser\.js$/.test(path) || compiler.test(path)
for (const path of readdirSync(modules, { recursive: true })) {
  if (isUnread(path.replaceAll('\\', '/'))) rmSync(join(modules, path), { force: true, recursive: true })
}
