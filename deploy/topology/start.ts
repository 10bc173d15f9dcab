import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ComposeService } from './compose.ts'
import { deployed, inOrder, readCompose, readDeployed } from './compose.ts'
import { createDatabase } from './database.ts'
import { readImage } from './image.ts'
import { choosePorts, haproxyConfig } from './ports.ts'
import type { Program } from './program.ts'
import { endProgram, isInstalled, startProgram, untilHolds } from './program.ts'

export interface TopologyOptions {
  /** A PostgreSQL server, and a user who may create databases; without one an embedded server is started. */
  server?: string | undefined
  /** Settings of nodes, worker and migration beyond those of compose.yaml, as in deploy/.env; they win. */
  settings?: Record<string, string>
  /** Node's arguments in front of the program, and a channel for messages. */
  nodeArguments?: string[]
  /** Gets each line that a program writes. */
  onLine?: (service: string, line: string) => void
}

export type Topology = Awaited<ReturnType<typeof startTopology>>

/** The programs that a topology needs and this machine lacks. */
export const missingPrograms = () => ['haproxy', 'redis-server'].filter((program) => !isInstalled(program))

const sections = { APPS_BASE_URL: 'apps', LMS_BASE_URL: 'lms', NOTIFY_BASE_URL: 'notify', AUTH_BASE_URL: 'auth' }

/**
 * Runs deploy/compose.yaml as processes on free ports of 127.0.0.1: its commands, settings, order and haproxy.cfg. Throws
 * when a program is missing, ends early, or is not ready within a minute; nothing is left running then.
 */
export async function startTopology(options: TopologyOptions = {}) {
  const missing = missingPrograms()
  if (missing.length > 0) throw new Error(`Needed, and not installed: ${missing.join(', ')}`)
  const secrets = ['DATABASE_PASSWORD', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD']
  const compose = await readCompose({
    ...Object.fromEntries(secrets.map((name) => [name, randomBytes(24).toString('hex')])),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    // Ours, as everything is on this machine.
    SUBNET: '127.0.0.1',
  })
  const image = await readImage()
  const ports = await choosePorts(compose)
  const database = await createDatabase(options.server)
  // Without a .env, and without anything that could be written to.
  const cwd = join(database.directory, 'empty')
  await mkdir(cwd)
  const config = join(database.directory, 'haproxy.cfg')
  await writeFile(config, haproxyConfig(await readDeployed('haproxy.cfg'), ports))

  const programs = new Map<string, Program>()
  const isOurs = ({ image: name }: ComposeService) => name === compose.services['node-1']!.image
  const here = (value: string) =>
    value.includes('@postgres:5432/') ? database.url : value.replace('redis:6379', `127.0.0.1:${ports.redis}`)

  function argumentsOf(name: string, service: ComposeService): string[] {
    if (name === 'proxy') return ['haproxy', '-db', '-f', config]
    if (name === 'redis') {
      return [...service.command!, '--port', String(ports.redis), '--bind', '127.0.0.1', '--dir', database.directory]
    }
    const [, ...rest] = service.command ?? image.command
    const [file, ...args] = rest.map((one) => (one.startsWith('dist/') ? deployed(`../${one}`) : one))
    return [process.execPath, ...(options.nodeArguments ?? []), file!, ...args]
  }

  function settingsOf(name: string, service: ComposeService): Record<string, string> {
    const given = Object.entries(service.environment ?? {}).map(([variable, value]) => [variable, here(value)])
    if (!isOurs(service)) return Object.fromEntries(given)
    return {
      ...image.settings,
      ...Object.fromEntries(Object.entries(sections).map(([v, s]) => [v, `http://${s}.localhost:${ports.public}/v1`])),
      ...Object.fromEntries(given),
      ...{ HOST: '127.0.0.1', PORT: String(ports.own[name]?.public ?? 0) },
      ...{ INTERNAL_HOST: '127.0.0.1', [portSetting(name)]: String(ports.own[name]?.internal ?? 0) },
      ...options.settings,
    }
  }

  /** Starts a service; waits until what depends on it can start. */
  async function start(name: string) {
    const service = compose.services[name]!
    const program = startProgram(argumentsOf(name, service), {
      env: settingsOf(name, service),
      cwd,
      onLine: options.onLine && ((line) => options.onLine!(name, line)),
      ipc: options.nodeArguments !== undefined && isOurs(service),
    })
    programs.set(name, program)
    if (name === 'migrate') {
      if ((await program.ended) !== 0) throw new Error(`${name} failed.\n${program.output()}`)
    } else if (name === 'redis') await untilHolds(program, name, () => accepts(ports.redis))
    else if (name === 'proxy') await untilHolds(program, name, () => isOk(ports.internal, '/trpc/'))
    else await untilHolds(program, name, () => isOk(ports.own[name]!.internal, '/healthz'))
  }

  const stop = async (name: string) => {
    const program = programs.get(name)
    return program ? endProgram(program, graceOf(compose.services[name]!)) : 0
  }

  async function close() {
    // Those first that depend on others.
    const order = inOrder(compose).toReversed()
    for (const stage of order) await Promise.all(stage.map(stop))
    await database.remove()
  }

  try {
    for (const stage of inOrder(compose)) {
      const started = await Promise.allSettled(stage.filter((name) => name !== 'postgres').map(start))
      for (const one of started) if (one.status === 'rejected') throw one.reason
    }
  } catch (error) {
    await close()
    throw error
  }

  return {
    /** HAProxy's: for apps, and for first-party apps. */
    publicPort: ports.public,
    internalPort: ports.internal,
    redisPort: ports.redis,
    databaseUrl: database.url,
    /** The nodes' own ports. */
    nodes: Object.entries(ports.own)
      .filter(([name]) => name.startsWith('node-'))
      .map(([name, { public: publicPort, internal }]) => ({ name, publicPort, internalPort: internal })),
    workerPort: ports.own.worker!.internal,
    program: (name: string) => programs.get(name)!,
    /** Starts a service again that was stopped or has ended. */
    start,
    /** Ends a service as `docker compose stop` does, and returns its exit code: null when it had to be killed. */
    stop,
    close,
  }
}

/** The setting of the port that answers the probes. */
const portSetting = (name: string) => (name === 'worker' ? 'WORKER_PORT' : 'INTERNAL_PORT')

const graceOf = ({ stop_grace_period: text = '10s' }: ComposeService) => Number.parseInt(text, 10) * 1000

/** Whether anything but HAProxy's own 503 comes. */
const isOk = (port: number, path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status < 500
    },
    () => false,
  )

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
