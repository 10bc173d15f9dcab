import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseUrl } from '../../prisma/parse-url.ts'
import { readSettings } from './command-settings.ts'
import type { Config, Environment } from './config.ts'

const toPath = (dataDir: string) => join(dataDir, 'auth-base-url')
const read = (dataDir: string) => readFile(toPath(dataDir), 'utf8').catch(() => undefined)

/**
 * Notes in the data directory where a trial's members sign in, as commands do not know the options of its start. Resolves with what
 * removes the note, unless it is another service's by then.
 */
export async function noteAddress({ dataDir, authBaseUrl }: Pick<Config, 'dataDir' | 'authBaseUrl'>) {
  // Without it, commands print the address of their own settings.
  await writeFile(toPath(dataDir), authBaseUrl, { mode: 0o600 }).catch(() => {})
  return async () => {
    if ((await read(dataDir)) === authBaseUrl) await rm(toPath(dataDir), { force: true })
  }
}

/** AUTH_BASE_URL if it is set, else where the running trial has it, else its default. */
export async function readAuthBaseUrl(env: Environment): Promise<string> {
  const { authBaseUrl, databaseUrl, dataDir } = readSettings(env, 'authBaseUrl', 'databaseUrl', 'dataDir')
  if (env.AUTH_BASE_URL || databaseUrl !== undefined) return authBaseUrl
  const noted = await read(dataDir)
  return noted !== undefined && parseUrl(noted) ? noted : authBaseUrl
}
