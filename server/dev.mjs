// `npm run dev`: the service on the sources as they are, restarted within 1 s of each change. While a source cannot be
// bundled, the service before the change stays up.
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { watch } from 'rolldown'
import { bundleOptions, CODE_FILE } from './bundle.mjs'

const root = join(import.meta.dirname, '..')
const schema = join(root, 'prisma/schema.prisma')
const builtCode = join(root, 'dist', CODE_FILE)
/** As deep as dist, which knows its package by that, and the same at each start of this program. */
const dir = join(root, '.dev')

/** The files that the service reads when it starts, and the schema, of which the Prisma client is made. */
const readAtStart = {
  name: 'read-at-start',
  buildStart() {
    const names = readdirSync(join(root, 'prisma'), { recursive: true })
    for (const name of names) if (name.endsWith('.sql')) this.addWatchFile(join(root, 'prisma', name))
    this.addWatchFile(schema)
  },
  watchChange(id) {
    if (id !== schema) return
    spawnSync(process.execPath, ['node_modules/prisma/build/index.js', 'generate'], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  },
}

let service
let ending = false
const stop = async () => {
  if (!service || service.exitCode !== null || service.signalCode !== null) return
  service.kill()
  await new Promise((resolve) => service.once('exit', resolve))
}

const options = bundleOptions(dir)
const watcher = watch({ ...options, plugins: [...options.plugins, readAtStart] })
watcher.on('event', async (event) => {
  if (event.code === 'ERROR') process.stderr.write(`${event.error.message}\n`)
  if (event.code === 'BUNDLE_END') {
    await stop()
    // The last build made it; without it pages have four languages. Highlighting would take 1 s of a restart.
    if (existsSync(builtCode)) copyFileSync(builtCode, join(dir, CODE_FILE))
    else writeFileSync(join(dir, CODE_FILE), '{}')
    if (!ending)
      service = spawn(process.execPath, [join(dir, 'server/main.js'), ...process.argv.slice(2)], { stdio: 'inherit' })
  }
  if (event.code === 'ERROR' || event.code === 'BUNDLE_END') await event.result.close()
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    ending = true
    await watcher.close()
    await stop()
  })
}
