import type { Service } from '../../process/service.ts'
import { start } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'

/** A node that is killed, and started again in its place. */
export async function openNode(env: Record<string, string>, atEnd: AtEnd) {
  let service: Service = await start(env, { atEnd })
  return {
    port: () => service.port,
    async kill() {
      service.child.kill('SIGKILL')
      await service.ended
      service = await start(env, { atEnd })
    },
  }
}
