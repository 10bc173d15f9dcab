// Builds the Prisma client, dist with the compiled service, the SDK, and the packages that others install. With --if-changed only
// when an input has changed since the last build, not at all where the sources or the compiler are absent, as in an
// installation with `--omit=dev`, and the packages only with --packages: a start does not wait 10 s for what it does not run.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

// For the npm scripts, which start with a build; server/process/node-version.ts is for the programs.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`member-apps-api needs Node 20.19 or later, and this is Node ${process.versions.node}.\n`)
  process.exit(1)
}

const root = import.meta.dirname
const ifChanged = process.argv.includes('--if-changed')
const withPackages = !ifChanged || process.argv.includes('--packages')
const tools = { prisma: 'node_modules/prisma/build/index.js', tsc: 'node_modules/typescript/bin/tsc' }

/** The files that decide what each output contains; a change of a package shows in the lock. */
const schemaInputs = ['package-lock.json', 'prisma.config.ts', 'prisma/schema.prisma']
const inputs = [
  ...schemaInputs,
  ...['build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'prisma', 'routers', 'rest-facade', 'server', 'examples'],
]
const sdkInputs = ['package-lock.json', 'clients/build-sdk.mjs']
/** Directories that builds make in the middle of the sources. */
const made = ['generated', 'dist', 'node_modules']

const exists = (path) => existsSync(join(root, path))
try {
  if (['tsconfig.build.json', tools.prisma, tools.tsc].every(exists)) build()
  else if (!ifChanged || !exists('dist')) throw new Error('The service cannot be built here: run `npm ci` first.\n')
} catch (error) {
  process.stderr.write(error.message)
  process.exitCode = 1
}

function build() {
  produce('prisma/generated', schemaInputs, () => run(tools.prisma, 'generate'))
  // Compiled aside: what starts meanwhile finds the complete former dist, and nothing of a removed source stays.
  produce('dist', inputs, (draft) => {
    const modules = join(draft, 'modules')
    run(tools.tsc, '-p', 'tsconfig.build.json', '--outDir', modules)
    for (const name of forBrowsers()) cpSync(join(root, name), join(modules, name))
    run(join(relative(root, modules), 'rest-facade/write-documents.js'))
    run('server/bundle.mjs', modules, draft)
    rmSync(modules, { recursive: true })
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    renameSync(draft, join(root, 'dist'))
  })
  // The sample app is made of it. Absent where only the service is built, as for its image.
  if (exists('clients/sdk')) {
    produce('clients/sdk/dist', [...sdkInputs, 'clients/sdk'], () => run('clients/build-sdk.mjs'))
  }
  if (!withPackages) return
  // One stamp for all packages: it goes with any of them, so that no empty one is packed.
  const packed = ['clients/first-party/dist', 'clients/sdk/dist/client.d.ts']
  if (!packed.every(exists)) rmSync(join(root, 'dist/types'), { recursive: true, force: true })
  produce('dist/types', [...inputs, 'tsconfig.types.json', 'clients'], (draft) => run('clients/build.mjs', draft))
}

/** What the service gives to browsers, as it is. */
function forBrowsers() {
  const names = readdirSync(join(root, 'server'), { recursive: true })
  return names.filter((name) => /\.(?:css|js)$/.test(name)).map((name) => join('server', name))
}

/** Makes the output, for which there is a directory aside, and leaves a hash of its inputs in it. */
function produce(output, from, make) {
  const stamp = join(root, output, '.inputs')
  const hash = hashOf(from)
  if (ifChanged && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  const draft = join(root, `.dist-${process.pid}`)
  try {
    make(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  writeFileSync(stamp, hash)
}

function hashOf(paths) {
  const hash = createHash('sha256')
  const add = (path) => {
    const absolute = join(root, path)
    if (statSync(absolute).isDirectory()) {
      const names = readdirSync(absolute).sort()
      for (const name of names) if (!made.includes(name)) add(join(path, name))
    } else hash.update(`${path}\0`).update(readFileSync(absolute)).update('\0')
  }
  for (const path of paths) add(path)
  return hash.digest('hex')
}

/** Runs a tool, and shows its output only if it fails. */
function run(tool, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, tool), ...args], { cwd: root })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}
