// Puts the programs and the packages that they import into a few files: loading 900 small modules takes 0.4 of 1.1 s of CPU
// at each start.
import { chmodSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { build } from 'rolldown'

const root = join(import.meta.dirname, '..')

/** What is started or imported, at its place in dist; routers/clients/pictures/apart.ts knows that of its thread. */
const entries = [
  'server/main',
  'server/worker',
  'server/commands/main',
  'server/in-process',
  'rest-facade/write-documents',
  'routers/clients/pictures/worker',
  'examples/third-party/main',
]

/** The files that modules read from their own directory. */
const readBy = {
  'server/browser/pages/style-sheet.ts': ['server/browser/pages/pages.css'],
  'server/portal/portal.ts': ['server/portal/portal.css', 'server/portal/script.js'],
  'server/reference/serve.ts': ['server/reference/try.js', 'server/reference/reference.css'],
}

/** Copies them to the files that have the modules. */
const besideModules = {
  name: 'beside-modules',
  buildStart() {
    for (const file of Object.values(readBy).flat()) this.addWatchFile(join(root, file))
  },
  generateBundle(_options, output) {
    const missing = new Set(Object.values(readBy).flat())
    for (const { fileName, moduleIds = [] } of Object.values(output)) {
      for (const file of moduleIds.flatMap((id) => readBy[relative(root, id)] ?? [])) {
        const source = readFileSync(join(root, file))
        this.emitFile({ type: 'asset', fileName: join(dirname(fileName), basename(file)), source })
        missing.delete(file)
      }
    }
    if (missing.size > 0) throw new Error(`No module reads ${[...missing].join(', ')}.`)
  },
}

/** Rolldown's options for the files in a directory. */
export const bundleOptions = (dir) => ({
  // Comments name modules from here: the same sources make the same files.
  cwd: root,
  input: Object.fromEntries(entries.map((entry) => [entry, join(root, `${entry}.ts`)])),
  platform: 'node',
  transform: { target: 'es2023' },
  // 3.3 MB for one query compiler, which Prisma reads itself, and an addon that pg does without.
  external: [/query_compiler/, 'pg-native'],
  plugins: [besideModules],
  onLog(_level, log) {
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
  },
  output: { dir, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js', comments: { jsdoc: false } },
})

export async function bundle(dir) {
  await build(bundleOptions(dir))
  // The program that package.json names: npm does the same where it installs one.
  chmodSync(join(dir, 'server/commands/main.js'), 0o755)
}
