// Builds dist: the Prisma client, then the compiled service. With --if-changed only when an input has changed since the
// last build, and not at all where the sources or the compiler are absent, as in an installation with `--omit=dev`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = import.meta.dirname
const ifChanged = process.argv.includes('--if-changed')
const tools = { prisma: 'node_modules/prisma/build/index.js', tsc: 'node_modules/typescript/bin/tsc' }

/** The files that decide what each output contains; a change of a package shows in the lock. */
const schemaInputs = ['package-lock.json', 'prisma.config.ts', 'prisma/schema.prisma']
const inputs = [
  ...schemaInputs,
  ...['build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'prisma', 'routers', 'rest-facade', 'server', 'examples'],
]

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
  produce('dist', inputs, () => {
    // Compiled aside: what starts meanwhile finds the complete former dist, and nothing of a removed source stays.
    const draft = join(root, `.dist-${process.pid}`)
    try {
      run(tools.tsc, '-p', 'tsconfig.build.json', '--outDir', draft)
      rmSync(join(root, 'dist'), { recursive: true, force: true })
      renameSync(draft, join(root, 'dist'))
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  })
}

/** Makes the output and leaves a hash of its inputs in it. */
function produce(output, from, make) {
  const stamp = join(root, output, '.inputs')
  const hash = hashOf(from)
  if (ifChanged && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  make()
  writeFileSync(stamp, hash)
}

function hashOf(paths) {
  const hash = createHash('sha256')
  const add = (path) => {
    const absolute = join(root, path)
    if (statSync(absolute).isDirectory()) {
      const names = readdirSync(absolute).sort()
      for (const name of names) if (name !== 'generated') add(join(path, name))
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
