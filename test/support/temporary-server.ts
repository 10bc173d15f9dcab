import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedServer } from '../../prisma/embedded/start.ts'
import { startEmbedded } from '../../prisma/embedded/start.ts'

/** An embedded server on a directory of its own, both gone when it is stopped. */
export async function temporaryServer(): Promise<EmbeddedServer> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-test-'))
  // Run by root, the server is another user's, who has to come in.
  await chmod(directory, 0o755)
  const server = await startEmbedded(directory)
  const stop = () => server.stop().then(() => rm(directory, { recursive: true, force: true }))
  return { ...server, stop }
}
