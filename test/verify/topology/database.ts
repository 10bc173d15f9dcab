import { randomBytes } from 'node:crypto'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { withName } from '../../support/addresses.ts'
import { query } from '../../support/databases.ts'

/** An empty database, on an embedded server in the directory where no server is given. */
export async function createDatabase(server: string | undefined, directory: string) {
  const embedded = server ? undefined : await startEmbedded(directory)
  const admin = server ?? embedded!.superuserUrl
  const name = `topology_${randomBytes(6).toString('hex')}`
  await query(admin, `CREATE DATABASE ${name}`)
  return {
    url: withName(admin, name),
    async remove() {
      await query(admin, `DROP DATABASE ${name} WITH (FORCE)`)
      await embedded?.stop()
    },
  }
}
