import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import { environmentWith, readEnvironment } from '../process/config.ts'

/** Prisma Studio on the service's data, whether the service runs or not. */
async function studio(args: string[]): Promise<number> {
  const { databaseUrl, dataDir } = readEnvironment()
  const server = databaseUrl === undefined ? await startEmbedded(dataDir) : undefined
  try {
    const url = databaseUrl ?? server!.url
    await migrate(url)
    return await runStudio(url, args)
  } finally {
    await server?.stop()
  }
}

/** The address goes through the environment, as other users of the machine can read a command line. */
function runStudio(url: string, args: string[]): Promise<number> {
  const cli = join(dirname(createRequire(import.meta.url).resolve('prisma/package.json')), 'build', 'index.js')
  const child = spawn(process.execPath, [cli, 'studio', ...args], {
    stdio: 'inherit',
    env: environmentWith({ DATABASE_URL: url, CHECKPOINT_DISABLE: '1' }),
  })
  // A terminal sends Ctrl-C to the child as well; whoever else ends us means both.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 0))
  })
}

try {
  process.exitCode = await studio(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
