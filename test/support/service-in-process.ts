import pino from 'pino'
import { onTestFinished } from 'vitest'
import { readConfig } from '../../server/process/config.ts'
import { startService } from '../../server/process/start.ts'
import { limitOwnSessions } from './databases.ts'
import { SECRETS_KEY } from './secrets-key.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { suiteLimits } from './time-limits.ts'

interface Options {
  settings?: Record<string, string>
  /** Lines of its log, which is silent otherwise. */
  onLog?: (line: string) => void
}

/** The whole service in this process, on a database of the test's, with housekeeping that looks at once. */
export async function startInProcess(databaseUrl: string, { settings = {}, onLog }: Options = {}) {
  await limitOwnSessions(databaseUrl, suiteLimits)
  const own = { PORT: '0', INTERNAL_PORT: '0', DATABASE_URL: databaseUrl, SECRETS_KEY }
  const config = readConfig({ ...own, DATA_DIR: await temporaryDirectory(), ...settings })
  const log = pino({ level: onLog ? 'info' : 'silent' }, { write: (line) => onLog?.(line) })
  const housekeeping = { intervalMs: 20, endingMs: 60_000 }
  const service = await startService(config, log, { timeLimits: suiteLimits, housekeeping })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= service.close())
  onTestFinished(close)
  return { config, close, publicPort: service.publicPort, internalPort: service.internalPort }
}
