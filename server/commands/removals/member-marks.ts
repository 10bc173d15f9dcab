import { memberMarks } from '../../../routers/kernel/cipher.ts'
import { ofSecrets, readSettings } from '../../process/command-settings.ts'
import type { Environment } from '../../process/config.ts'
import { createCipher } from '../../secrets/cipher.ts'
import { existingSecretsKeys } from '../../secrets/keys.ts'

/** A person's keyed hashes in the request log; none without the service's key, which alone can make them. */
export async function computeMarks(env: Environment, person: string): Promise<string[]> {
  const keys = await existingSecretsKeys(readSettings(env, ...ofSecrets))
  return keys ? memberMarks(createCipher(keys), person) : []
}
