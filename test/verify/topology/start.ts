import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { dataDirectory, freePort, send, until } from '../../process/service.ts'
import { direct } from '../../support/addresses.ts'
import type { AtEnd } from '../../support/databases.ts'
import { emptyDatabase } from '../../support/databases.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import type { Program } from './program.ts'
import { endProgram, expectRunning, lacking, startProgram } from './program.ts'

interface Options {
  /** An empty database. */
  databaseUrl: string
  /** Settings of nodes, worker and migration, beyond those of compose.yaml. */
  settings?: Record<string, string>
  /** Node's arguments in front of the program, which has a channel for messages then. */
  nodeArguments?: string[]
  /** Gets each line that a program writes. */
  onLine?: (name: string, line: string) => void
}

/** The port of apps, and the internal one; a program with one port has the first. */
type Ports = Record<string, [number, number]>

const NODES = ['node-1', 'node-2']
const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

export const missingPrograms = () => lacking('haproxy', 'redis-server')

/**
 * Two nodes, a worker and Redis behind HAProxy, on free ports of 127.0.0.1 and on one database. HAProxy has
 * deploy/haproxy.cfg, Redis its command of deploy/compose.yaml, and the nodes have the settings there that name no other service.
 * Throws when a program ends early.
 */
export async function startTopology({ databaseUrl, settings, nodeArguments, onLine }: Options) {
  const compose = parse(read('deploy/compose.yaml'))
  const ports: Ports = {}
  for (const name of [...NODES, 'worker', 'proxy', 'redis']) ports[name] = [await freePort(), await freePort()]
  const [publicPort, internalPort] = ports.proxy!
  const redisPort = String(ports.redis![0])
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-topology-'))
  await writeFile(join(directory, 'haproxy.cfg'), haproxyConfig(ports))

  const REDISCLI_AUTH = randomBytes(24).toString('hex')
  const environment = Object.entries<string>(compose['x-program'].environment)
  const bases = ['apps', 'lms', 'notify', 'sync', 'auth'].map((name) => [
    `${name.toUpperCase()}_BASE_URL`,
    `http://${name}.localhost:${publicPort}/v1`,
  ])
  const common = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    TRUSTED_PROXIES: '127.0.0.1',
    ...Object.fromEntries(environment.filter(([, value]) => !value.includes('$'))),
    DATABASE_URL: databaseUrl,
    REDIS_URL: `redis://:${REDISCLI_AUTH}@127.0.0.1:${redisPort}`,
    ...Object.fromEntries(bases),
    SECRETS_KEY: randomBytes(32).toString('base64'),
  }

  const programs = new Map<string, Program>()
  const run = (name: string, command: string[], env: Record<string, string> = {}, ipc = false) => {
    const program = startProgram(command, { cwd: directory, env, ipc, onLine: (line) => onLine?.(name, line) })
    programs.set(name, program)
    return program
  }
  const runOurs = (name: string, file: string, ...args: string[]) => {
    const [PORT, INTERNAL_PORT] = (ports[name] ?? [0, 0]).map(String) as [string, string]
    const own = { PORT, INTERNAL_PORT, WORKER_PORT: INTERNAL_PORT }
    const command = [process.execPath, ...(nodeArguments ?? []), join(root, 'dist/server', file), ...args]
    return run(name, command, { ...common, ...own, ...settings }, nodeArguments !== undefined)
  }
  /** Resolves when the program answers, and not as HAProxy does without nodes. */
  const answers = (program: Program, port: number, path: string) =>
    until(
      async () => {
        expectRunning(program)
        return (await send(port, 'GET', path).catch(() => undefined))?.status ?? 503
      },
      (status) => status < 500,
    )
  /** Starts a node, also one that was stopped. */
  const start = (name: string) => answers(runOurs(name, 'main.js'), ports[name]![1], '/healthz')
  const stop = async (name: string) => {
    const program = programs.get(name)
    return program ? endProgram(program) : null
  }
  async function close() {
    for (const names of [['proxy'], [...NODES, 'worker'], ['redis']]) await Promise.all(names.map(stop))
    await rm(directory, { recursive: true, force: true })
  }

  try {
    // A dollar sign is doubled there.
    const command: string[] = compose.services.redis.command.map((one: string) => one.replaceAll('$$', '$'))
    const redis = run('redis', [...command, '--bind', '127.0.0.1', '--port', redisPort], { REDISCLI_AUTH })
    const migrate = runOurs('migrate', 'commands/main.js', 'migrate')
    if ((await migrate.ended) !== 0) throw new Error(migrate.output())
    expectRunning(redis)
    const worker = runOurs('worker', 'worker.js')
    await Promise.all([...NODES.map(start), answers(worker, ports.worker![1], '/healthz')])
    await answers(run('proxy', ['haproxy', '-db', '-f', 'haproxy.cfg']), internalPort, '/trpc/')
  } catch (error) {
    await close()
    throw error
  }
  return {
    /** HAProxy's: for apps, and for first-party apps. */
    publicPort,
    internalPort,
    databaseUrl,
    /** With their own ports. */
    nodes: NODES.map((name) => ({ name, publicPort: ports[name]![0], internalPort: ports[name]![1] })),
    program: (name: string) => programs.get(name)!,
    start,
    /** Resolves to the exit code: null after a signal. */
    stop,
    close,
  }
}

/** The same, with a database that a proxy takes away, and with what is needed for tokens of the demo. */
export async function startFaultyTopology(atEnd: AtEnd) {
  const database = await FaultProxy.to(direct(await emptyDatabase(atEnd)))
  atEnd(async () => database.close())
  const DATA_DIR = await dataDirectory(atEnd)
  const topology = await startTopology({
    databaseUrl: database.url,
    settings: { DEVELOPMENT_TOKENS: 'true', DATA_DIR },
  })
  atEnd(topology.close)
  atEnd(() => database.end())
  return { ...topology, database, dataDir: DATA_DIR }
}

/** deploy/haproxy.cfg with these ports. */
const haproxyConfig = (ports: Readonly<Ports>) =>
  read('deploy/haproxy.cfg')
    .replace(/bind :808([01])/g, (_, n) => `bind 127.0.0.1:${ports.proxy![n as 0 | 1]}`)
    .replace(/(node-\d)(:3000 check port )3001/g, (_, name, rest) => `${name}${rest}${ports[name]![1]}`)
    .replace(/(node-\d):300([01])/g, (_, name, n) => `127.0.0.1:${ports[name]![n as 0 | 1]}`)
