import { spawn } from 'node:child_process'
import { accessSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { schemaDirectory } from '../../../prisma/migration-files.ts'
import { readRole } from '../../../prisma/session-limits.ts'
import { databaseSettings, readSettings } from '../../process/command-settings.ts'
import type { Environment } from '../../process/config.ts'
import { prepareStore } from '../../process/store.ts'
import type { Command } from '../line/command.ts'
import { program } from '../line/command.ts'

const open = program({
  declare: (line) =>
    line.argument('[OPTION...]', 'an option of prisma studio, as --port 5555 --browser none').allowUnknownOption(),
  async run(_values, { env }, argv) {
    const studio = findStudio()
    const { databaseUrl, databaseDirectUrl, dataDir, migrateOnStart } = readSettings(env, ...databaseSettings)
    const server = databaseUrl === undefined ? await startEmbedded(dataDir) : undefined
    try {
      const pooledUrl = databaseUrl ?? server!.url
      const url = databaseDirectUrl ?? pooledUrl
      await prepareStore(url, { directory: server?.directory, role: readRole(pooledUrl), migrateOnStart })
      return await runStudio(studio, argv, { ...env, DATABASE_URL: url, CHECKPOINT_DISABLE: '1' })
    } finally {
      await server?.stop()
    }
  },
})

export const command: Command = {
  about: 'Opens Prisma Studio on the database, also while the service runs, until Ctrl-C.',
  actions: { '': open },
  examples: ['studio', 'studio --port 5555 --browser none'],
}

/** Node's arguments for Prisma Studio; throws in an installation without it. */
function findStudio(): string[] {
  const config = join(schemaDirectory(), '..', 'prisma.config.ts')
  try {
    accessSync(config)
    const prisma = dirname(createRequire(import.meta.url).resolve('prisma/package.json'))
    return [join(prisma, 'build', 'index.js'), 'studio', '--config', config]
  } catch (cause) {
    throw new Error('Prisma Studio is part of a checkout with its development dependencies (npm ci).', { cause })
  }
}

/** Passes the database's address in the environment, as other users of the machine can read a command line. */
function runStudio(studio: readonly string[], argv: readonly string[], env: Environment): Promise<number> {
  const child = spawn(process.execPath, [...studio, ...argv], { stdio: 'inherit', env })
  // A terminal sends Ctrl-C to the child as well; other signals reach only this process.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 0))
  })
}
