// Builds the Prisma client, dist with the service, the packages that it serves, and with --packages the types of the whole API,
// for this package and the first-party client. With --if-changed only what has changed since the last build, and nothing where
// the sources or the tools are absent, as in an installation with `--omit=dev`. Types are checked by `npm run check`, not here.
import { execFile } from 'node:child_process'
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
const tools = { prisma: 'node_modules/prisma/build/index.js', rolldown: 'node_modules/rolldown' }

const exists = (path) => existsSync(join(root, path))

/** The files that decide what each output contains; a change of a package shows in the lock. */
const schemaInputs = ['package-lock.json', 'prisma.config.ts', 'prisma/schema.prisma']
const inputs = [
  ...schemaInputs,
  ...['build.mjs', 'tsconfig.json', 'prisma', 'routers', 'rest-facade', 'server', 'examples'],
  ...['docs', 'docs/records/security.md', 'clients/sdk/README.md'].filter(exists),
]
/** Directories in the middle of the sources that builds and `npm run verify` make. */
const made = ['generated', 'dist', 'node_modules', 'records']
const packed = 'clients/dist'
const ownTypes = 'clients/first-party/dist/client.d.ts'

try {
  if (['prisma.config.ts', tools.prisma, tools.rolldown].every(exists)) await build()
  else if (!ifChanged || !exists('dist')) throw new Error('The service cannot be built here: run `npm ci` first.\n')
} catch (error) {
  process.stderr.write(error.message)
  process.exitCode = 1
}

async function build() {
  await produce('prisma/generated', schemaInputs, () => run(tools.prisma, 'generate'))
  // The bundler leaves a core to the packages.
  await Promise.all([buildPackages(), buildService()])
  // A start does not wait 8 s for what it does not run.
  if (process.argv.includes('--packages')) {
    if (!exists(ownTypes)) rmSync(join(root, 'dist/types'), { recursive: true, force: true })
    const from = [...inputs, 'tsconfig.types.json', 'clients']
    await produce('dist/types', from, (draft) => run('clients/build-types.mjs', draft))
    await pack()
  }
  // Absent where only the service is built.
  if (!exists(packed)) return
  rmSync(join(root, 'dist/packages'), { recursive: true, force: true })
  cpSync(join(root, packed), join(root, 'dist/packages'), { recursive: true })
}

function buildService() {
  // Bundled aside: what starts meanwhile finds the complete former dist, and nothing of a removed source stays.
  return produce('dist', inputs, async (draft) => {
    const { bundle, writeReferenceCode } = await import('./server/bundle.mjs')
    await bundle(draft)
    await run(join(relative(root, draft), 'rest-facade/write-documents.js'))
    await writeReferenceCode(draft)
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    renameSync(draft, join(root, 'dist'))
  })
}

async function buildPackages() {
  if (!exists('clients/build-programs.mjs')) return
  // Those of a former API.
  if (!isCurrent('dist', listFileStamps(inputs))) rmSync(join(root, ownTypes), { force: true })
  // One stamp for both packages: it goes with any of them, so that no empty one is packed.
  if (!exists('clients/first-party/dist/client.js'))
    rmSync(join(root, 'clients/sdk/dist'), { recursive: true, force: true })
  await produce('clients/sdk/dist', ['package-lock.json', 'tsconfig.types.json', 'clients'], (draft) =>
    run('clients/build-programs.mjs', draft),
  )
  await pack()
}

function pack() {
  return produce(packed, ['clients', 'clients/sdk/dist', 'clients/first-party/dist'], () => run('clients/pack.mjs'))
}

/** Makes the output, for which there is a directory aside, and leaves a list of its inputs in it. */
async function produce(output, from, make) {
  const list = listFileStamps(from)
  if (isCurrent(output, list)) return
  const draft = join(root, `.dist-${process.pid}-${output.replaceAll('/', '-')}`)
  try {
    await make(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  writeFileSync(join(root, output, '.inputs'), list)
}

function isCurrent(output, list) {
  const stamp = join(root, output, '.inputs')
  return ifChanged && existsSync(stamp) && readFileSync(stamp, 'utf8') === list
}

/** The files with their sizes and times of change, read in 10 ms. */
function listFileStamps(paths) {
  const lines = []
  const add = (path) => {
    const stat = statSync(join(root, path))
    if (!stat.isDirectory()) lines.push(`${path} ${stat.size} ${stat.mtimeMs}`)
    else for (const name of readdirSync(join(root, path)).sort()) if (!made.includes(name)) add(join(path, name))
  }
  for (const path of paths) add(path)
  return lines.join('\n')
}

/** Runs a tool, and shows its output only if it fails. */
function run(tool, ...args) {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(root, tool), ...args], { cwd: root }, (error, stdout, stderr) =>
      error ? reject(new Error(`${stdout}${stderr}`)) : resolve(),
    )
  })
}
