import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defaultBaseUrls } from '../../server/process/base-urls.ts'
import type { Bench } from '../data/database.ts'
import { SECRETS_KEY } from '../data/tokens.ts'
import type { Server } from './process.ts'
import { freePort, startServer, TSX } from './process.ts'
import { OWN } from './runtimes.ts'

const program = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const toSettings = ({ url, dataDir }: Bench) => ({ DATABASE_URL: url, DATA_DIR: dataDir })

export const startHandlers = (name: 'bare' | 'frame', bench: Bench, route: string) =>
  startServer([...TSX, program(`${name}.ts`)], { ...toSettings(bench), ROUTE: route })

export const startOidc = (bench: Bench) => startServer([...TSX, program('oidc.ts')], toSettings(bench))

export const startFastify = (bench: Bench) =>
  startServer([...TSX, program('../peers/fastify.mjs')], { ...toSettings(bench), NODE_ENV: 'production' })

/** The service as in production: compiled, with its log. Its tRPC port is `internal`. */
export async function startService(
  bench: Bench,
  args: string[] = ['dist/server/main.js'],
  settings: NodeJS.ProcessEnv = {},
  runtime = OWN,
): Promise<Server & { internal: number }> {
  const internal = await freePort()
  const env = {
    ...toSettings(bench),
    INTERNAL_PORT: String(internal),
    LOG_LEVEL: 'info',
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    // Without the port, which differs from start to start: the issuer of tokens, and what documents name.
    ...defaultBaseUrls('80'),
    ...settings,
  }
  return { ...(await startServer(args, env, runtime)), internal }
}

/** Installs the peers, which nothing else needs, unless they match the lock file. */
export function installPeers() {
  const directory = program('../peers')
  const writtenAt = (name: string) => statSync(`${directory}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  // npm writes it at the end of each installation.
  if (writtenAt('node_modules/.package-lock.json') > writtenAt('package-lock.json')) return
  // On Node 20 a package of Parse Server's asks for a later version, but works.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']
  const { status } = spawnSync('npm', args, { cwd: directory, stdio: 'inherit' })
  if (status !== 0) throw new Error('The peers could not be installed.')
}
