// Builds the Prisma client, dist with the service, the SDK, and with --packages what others install. With --if-changed only
// what has changed since the last build, and nothing where the sources or the tools are absent, as in an installation with
// `--omit=dev`. Types are checked by `npm run check`, not here.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
  ...['docs', 'clients/sdk/README.md'].filter(exists),
]
/** Directories in the middle of the sources that builds and `npm run verify` make. */
const made = ['generated', 'dist', 'node_modules', 'records']

try {
  if (['prisma.config.ts', tools.prisma, tools.rolldown].every(exists)) await build()
  else if (!ifChanged || !exists('dist')) throw new Error('The service cannot be built here: run `npm ci` first.\n')
} catch (error) {
  process.stderr.write(error.message)
  process.exitCode = 1
}

async function build() {
  await produce('prisma/generated', schemaInputs, () => run(tools.prisma, 'generate'))
  // Bundled aside: what starts meanwhile finds the complete former dist, and nothing of a removed source stays.
  await produce('dist', inputs, async (draft) => {
    const { bundle, writeReferenceCode } = await import('./server/bundle.mjs')
    await bundle(draft)
    run(join(relative(root, draft), 'rest-facade/write-documents.js'))
    await writeReferenceCode(draft)
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    renameSync(draft, join(root, 'dist'))
  })
  // The sample app is made of it. Absent where only the service is built, as for its image.
  if (exists('clients/build-sdk.mjs')) {
    await produce('clients/sdk/dist', ['package-lock.json', 'clients/build-sdk.mjs', 'clients/sdk'], () =>
      run('clients/build-sdk.mjs'),
    )
  }
  // A start does not wait 8 s for what it does not run.
  if (!process.argv.includes('--packages')) return
  // One stamp for all packages: it goes with any of them, so that no empty one is packed.
  const packed = ['clients/first-party/dist', 'clients/sdk/dist/client.d.ts']
  if (!packed.every(exists)) rmSync(join(root, 'dist/types'), { recursive: true, force: true })
  await produce('dist/types', [...inputs, 'tsconfig.types.json', 'clients'], (draft) => run('clients/build.mjs', draft))
}

/** Makes the output, for which there is a directory aside, and leaves a list of its inputs in it. */
async function produce(output, from, make) {
  const stamp = join(root, output, '.inputs')
  const list = listFileStamps(from)
  if (ifChanged && existsSync(stamp) && readFileSync(stamp, 'utf8') === list) return
  const draft = join(root, `.dist-${process.pid}`)
  try {
    await make(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  writeFileSync(stamp, list)
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
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, tool), ...args], { cwd: root })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}
