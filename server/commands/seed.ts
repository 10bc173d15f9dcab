import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/scopes.ts'
import { readEnvironment } from '../process/config.ts'
import { openStore } from '../process/store.ts'

/** Loads the demo data: into the database of DATABASE_URL, or into the embedded one. */
try {
  const { db, close } = await openStore(readEnvironment(), () => {})
  await seed(db, new Date(), memberScopesAt).finally(close)
  process.stdout.write('The demo data is loaded.\n')
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
