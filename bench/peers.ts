import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench } from './database.ts'
import { startServer } from './process.ts'

const directory = fileURLToPath(new URL('peers', import.meta.url))

/** When the file was written; 0 without one. */
const writtenAt = (name: string) => statSync(`${directory}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Installs the peers, which nothing else needs, unless they are there as the lock file has them. */
export function installPeers() {
  // npm writes it at the end of each installation.
  if (writtenAt('node_modules/.package-lock.json') > writtenAt('package-lock.json')) return
  // On Node 20 a package of Parse Server's asks for a later one, and works all the same.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']
  const { status } = spawnSync('npm', args, { cwd: directory, stdio: 'inherit' })
  if (status !== 0) throw new Error('The peers could not be installed.')
}

export const startFastify = ({ url, dataDir }: Bench) =>
  startServer(['--import', 'tsx', `${directory}/fastify.mjs`], {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    NODE_ENV: 'production',
  })
