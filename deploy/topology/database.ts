import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../prisma/embedded/start.ts'

/** An empty database for a topology: on the given server, by a user who may create one, else on an embedded server. */
export async function createDatabase(server: string | undefined) {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-topology-'))
  // PostgreSQL's user may enter it also when this is run by root.
  await chmod(directory, 0o755)
  const embedded = server ? undefined : await startEmbedded(directory)
  const admin = new pg.Client(server ?? embedded!.superuserUrl)
  await admin.connect()
  const name = `topology_${randomBytes(6).toString('hex')}`
  await admin.query(`CREATE DATABASE ${name}`)
  const url = new URL(server ?? embedded!.superuserUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    /** A directory that lives as long as the database. */
    directory,
    async remove() {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`).finally(() => admin.end())
      await embedded?.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
