import { randomBytes } from 'node:crypto'
import type { Config } from './config.ts'
import { keptFile } from './kept-file.ts'

/** What seals and signs whatever only this service may read: of SECRETS_KEY, else of a file of the data directory. */
export async function secretsKeyOf({ secretsKey, dataDir }: Pick<Config, 'secretsKey' | 'dataDir'>): Promise<Buffer> {
  if (secretsKey) return secretsKey
  return Buffer.from(await keptFile(dataDir, 'secrets-key', () => randomBytes(32).toString('base64')), 'base64')
}
