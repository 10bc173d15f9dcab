import { stat } from 'node:fs/promises'
import { examineBackup } from '../../prisma/backup/restore.ts'
import { writeBackup } from '../../prisma/backup/write.ts'
import { ofSecrets, readSettings } from '../process/command-settings.ts'
import { secretsKeyFile } from '../secrets/keys.ts'
import { parseFile } from './arguments.ts'
import { command } from './command.ts'
import { withDatabaseUrl } from './database.ts'

const usage = `Usage:
  npm run -s backup -- FILE

Writes the whole database to a new file, as it is at one moment, also while the service runs. It holds personal data, and
not SECRETS_KEY, which a restore needs.
`

export const run = command(usage, async (argv, io) => {
  const { file } = parseFile(argv, {})
  const config = readSettings(io.env, ...ofSecrets)
  await withDatabaseUrl(io, (url) => writeBackup(url, file, new Date()))
  const { rows, secretsKeyCheck } = await examineBackup(file)
  const { size } = await stat(file)
  io.stdout.write(`Written and read back: ${file}, ${rows} rows, ${size} bytes\n`)
  const key = config.secretsKeys ? 'SECRETS_KEY' : secretsKeyFile(config)
  if (secretsKeyCheck !== null) io.stdout.write(`A restore needs the same key; keep it elsewhere: ${key}\n`)
})
