import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A private file's content, created on first use; of several concurrent processes, one creates it. Throws when it can be neither
 * read nor created.
 */
export async function createOnceFile(
  directory: string,
  name: string,
  make: () => string | Promise<string>,
): Promise<string> {
  const path = join(directory, name)
  const existing = await readFile(path, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw unusable(path, error)
  })
  if (existing !== undefined) return existing

  const draft = `${path}.${randomUUID()}`
  try {
    await mkdir(directory, { recursive: true })
    await writeFile(draft, await make(), { mode: 0o600 })
    await link(draft, path).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    return await readFile(path, 'utf8')
  } catch (error) {
    throw unusable(path, error as Error)
  } finally {
    await rm(draft, { force: true })
  }
}

const unusable = (path: string, { message }: Error) =>
  new Error(`DATA_DIR cannot be used: ${path} can be neither read nor created (${message}).`)
