import { fileURLToPath } from 'node:url'
import type { Bench } from './database.ts'
import type { Server } from './process.ts'
import { freePort, startServer } from './process.ts'

const program = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Starts the bare handlers; one of them answers. */
export const startBare = (bench: Bench, route: string) => startHandlers('bare.ts', bench, route)

/** Starts the bare handlers within the service's packages; one of them answers. */
export const startFrame = (bench: Bench, route: string) => startHandlers('frame.ts', bench, route)

async function startHandlers(name: string, { url, dataDir }: Bench, route: string): Promise<Server> {
  const server = await startServer(['--import', 'tsx', program(name)], { DATABASE_URL: url, DATA_DIR: dataDir })
  await switchTo(server, route)
  return server
}

/** Lets another bare handler answer. */
export async function switchTo(bare: Server, route: string) {
  bare.tell({ route })
  // Its answer comes after the switch.
  await bare.cpu()
}

/** The service as in production: compiled, with its log. Its tRPC port is `internal`. */
export async function startService(
  { url, dataDir }: Bench,
  args: string[] = ['dist/server/main.js'],
  settings: NodeJS.ProcessEnv = {},
): Promise<Server & { internal: number }> {
  const internal = await freePort()
  const env = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    INTERNAL_PORT: String(internal),
    LOG_LEVEL: 'info',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    ...settings,
  }
  return { ...(await startServer(args, env)), internal }
}

/** Starts all servers, or none: stops those that run when one fails. */
export async function startAll<One extends Pick<Server, 'stop'>>(starters: (() => Promise<One>)[]): Promise<One[]> {
  const servers: One[] = []
  try {
    for (const start of starters) servers.push(await start())
    return servers
  } catch (error) {
    await Promise.all(servers.map(({ stop }) => stop()))
    throw error
  }
}
