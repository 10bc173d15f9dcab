// Puts the programs and the packages that they import into a few files: loading 900 small modules takes 0.4 of 1.1 s of CPU
// at each start.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import { readNotices } from './third-party.mjs'

const root = join(import.meta.dirname, '..')

/** Files that are started or imported, at their place in dist; routers/developer/pictures/worker-thread.ts knows its thread's. */
const entries = [
  'server/main',
  'server/worker',
  'server/commands/main',
  'server/in-process',
  'rest-facade/write-documents',
  'routers/developer/pictures/worker',
  'examples/third-party/main',
]

const typefaces = ['inter', 'jetbrains-mono'].map(
  (name) => `node_modules/@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`,
)

const lucide = 'node_modules/@iconify-json/lucide/icons.json'

/** The files that modules read from their own directory. */
const readBy = {
  'server/browser/look/components/sheet.ts': [
    'server/browser/look/components/components.css',
    'server/browser/look/components/dense.css',
    'server/browser/look/components/components.js',
  ],
  'server/browser/look/gallery/gallery.ts': ['server/browser/look/gallery/gallery.css'],
  'server/browser/look/theme.ts': ['server/browser/look/theme.js'],
  'server/browser/look/typefaces.ts': typefaces,
  'server/browser/pages/style-sheet.ts': ['server/browser/pages/pages.css'],
  'server/browser/docs-layout/docs-layout.ts': [
    'server/browser/docs-layout/docs-layout.css',
    'server/browser/docs-layout/docs-layout.js',
  ],
  'server/docs/serve.ts': ['server/docs/docs.css'],
  'server/portal/assets.ts': ['server/portal/portal.css', 'server/portal/shell.css', 'server/portal/script.js'],
  'server/reference/serve.ts': [
    'server/reference/code.js',
    'server/reference/show-code.js',
    'server/reference/try.js',
    'server/reference/reference.css',
  ],
}

/** Read by server/docs/open.ts. */
export const CODE_FILE = 'chunks/docs/reference-code.json'

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

/** Writes the icons that icon-names.ts has beside the file that has icon.ts: 1 of the package's 610 kB. */
const icons = {
  name: 'icons',
  generateBundle(_options, output) {
    const reader = Object.values(output).find(({ moduleIds = [] }) =>
      moduleIds.includes(join(root, 'server/browser/look/icons/icon.ts')),
    )
    const names = readFileSync(join(root, 'server/browser/look/icons/icon-names.ts'), 'utf8')
    const all = JSON.parse(readFileSync(join(root, lucide), 'utf8')).icons
    const used = [...names.matchAll(/'([a-z0-9-]+)'/g)].map(([, name]) => [name, { body: all[name].body }])
    this.emitFile({
      type: 'asset',
      fileName: join(dirname(reader.fileName), 'icons.json'),
      source: JSON.stringify({ icons: Object.fromEntries(used) }),
    })
  },
}

/**
 * V8 keeps a file's text, and takes two bytes for each character if a single one is beyond Latin-1, as an arrow or a dash: 3 MB
 * of a service at rest.
 */
const latin1 = {
  name: 'latin1',
  // Not renderChunk: Rolldown prints the code again after it.
  generateBundle(_options, output) {
    for (const chunk of Object.values(output)) {
      if (chunk.type !== 'chunk') continue
      chunk.code = chunk.code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    }
  },
}

/** The sources of the documentation, and its renderer. */
const documents = ['docs', 'clients/sdk/README.md', 'server/docs']
const isDocument = (id) => documents.some((path) => `${id}/`.startsWith(`${join(root, path)}/`))

/** While `npm run dev` watches: rendering takes 1 s, and a restart should take less than 1 s. */
let rendered

/** Renders the documentation beside the file that has server/docs/open.ts, so that no renderer is installed. */
const documentation = {
  name: 'documentation',
  buildStart() {
    const files = [...filesIn('docs', '.md'), ...filesIn('server/docs/build', '.ts'), 'clients/sdk/README.md']
    for (const file of files) this.addWatchFile(join(root, file))
  },
  watchChange(id) {
    if (isDocument(id)) rendered = undefined
  },
  async generateBundle(_options, output) {
    const reader = Object.values(output).find(({ moduleIds = [] }) =>
      moduleIds.includes(join(root, 'server/docs/open.ts')),
    )
    const directory = join(dirname(reader.fileName), 'docs')
    rendered ??= (await renderer()).renderDocs(root).docs
    this.emitFile({ type: 'asset', fileName: join(directory, 'docs.json'), source: JSON.stringify(rendered) })
    for (const name of Object.keys(rendered.pictures)) {
      const source = readFileSync(join(root, 'docs/images', name))
      this.emitFile({ type: 'asset', fileName: join(directory, 'images', name), source })
    }
  },
}

const filesIn = (directory, ending) =>
  readdirSync(join(root, directory), { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(directory, name))

/** Bundled for this process alone, which cannot read TypeScript. */
async function renderer(file = 'server/docs/build/render-docs.ts') {
  const { output } = await build({ cwd: root, input: join(root, file), platform: 'node', write: false })
  // A file, as packages in CommonJS look for Node's modules from where they are.
  const directory = mkdtempSync(join(tmpdir(), 'renderer-'))
  const path = join(directory, 'renderer.mjs')
  writeFileSync(path, output[0].code)
  return import(pathToFileURL(path)).finally(() => rmSync(directory, { recursive: true }))
}

/** Rolldown's options for the files in a directory. */
export const bundleOptions = (dir) => ({
  // Comments name modules from here: the same sources make the same files.
  cwd: root,
  input: Object.fromEntries(entries.map((entry) => [entry, join(root, `${entry}.ts`)])),
  platform: 'node',
  transform: { target: 'es2023' },
  // An addon that pg does without.
  external: ['pg-native'],
  plugins: [besideModules, icons, documentation, latin1],
  onLog(_level, log) {
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
  },
  output: { dir, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js', comments: { jsdoc: false } },
})

/** Writes the code of the reference beside the documentation, once the API's documents are there. */
export async function writeReferenceCode(dir) {
  const { renderReferenceCode } = await renderer('server/reference/build/render-code.ts')
  const documents = JSON.parse(readFileSync(join(dir, 'chunks/documents.json'), 'utf8'))
  writeFileSync(join(dir, CODE_FILE), JSON.stringify(renderReferenceCode(documents)))
}

export async function bundle(dir) {
  const { output } = await build(bundleOptions(dir))
  writeFileSync(
    join(dir, 'third-party.txt'),
    readNotices([
      ...output.flatMap(({ moduleIds = [] }) => moduleIds),
      ...[...typefaces, lucide].map((file) => join(root, file)),
    ]),
  )
  // The program that package.json names: npm does the same where it installs one.
  chmodSync(join(dir, 'server/commands/main.js'), 0o755)
}
