import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/** Empty when the file does not exist. Throws when it cannot be read. */
export function readEnvFile(file: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}
