// Puts the compiled modules of the programs and the packages that they import into a few files: loading 900 small modules
// takes 0.4 of 1.1 s of CPU at each start. Arguments: the directory of the modules, and the one for the result.
import { cpSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const [modules, result] = process.argv.slice(2)

/** What is started or imported, at its place in dist; routers/clients/pictures/apart.ts knows that of its thread. */
const entries = [
  'server/main',
  'server/worker',
  'server/commands/main',
  'server/in-process',
  'routers/clients/pictures/worker',
  'examples/third-party/main',
]

/** The files that modules read from their own directory. */
const readBy = {
  'rest-facade/openapi.js': ['rest-facade/documents.json'],
  'server/browser/pages/style-sheet.js': ['server/browser/pages/pages.css'],
  'server/portal/portal.js': ['server/portal/portal.css'],
  'server/reference/serve.js': ['server/reference/try.js', 'server/reference/reference.css'],
}

const build = await rolldown({
  // Comments name modules from here: the same sources make the same files.
  cwd: modules,
  input: Object.fromEntries(entries.map((entry) => [entry, join(modules, `${entry}.js`)])),
  platform: 'node',
  // 3.3 MB for one query compiler, which Prisma reads itself, and an addon that pg does without.
  external: [/query_compiler/, 'pg-native'],
  onLog(_level, log) {
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
  },
})
const { output } = await build.write({
  dir: result,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  comments: { jsdoc: false },
})

const copied = output.flatMap(({ fileName, moduleIds = [] }) => {
  const files = moduleIds.flatMap((id) => readBy[relative(modules, id)] ?? [])
  for (const file of files) cpSync(join(modules, file), join(result, dirname(fileName), basename(file)))
  return files
})
const missing = Object.values(readBy)
  .flat()
  .filter((file) => !copied.includes(file))
if (missing.length > 0) throw new Error(`No module reads ${missing.join(', ')}.`)
