import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inject, onTestFinished } from 'vitest'
import type { CommandName } from '../../server/commands/program/run-command.ts'
import { copyCluster, copyDemoCluster } from '../support/cluster-template.ts'
import type { AtEnd } from '../support/databases.ts'
import { migratedDatabase } from '../support/databases.ts'

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

interface Options {
  group?: boolean
  /** The program of another release. */
  entry?: string
  cwd?: string
  args?: readonly string[]
  /** The number of an open file, in place of a pipe. */
  stdout?: number
  atEnd?: AtEnd
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** A program in a process of its own, without our environment. */
export interface Program {
  child: ChildProcess
  stdout: () => string
  stderr: () => string
  ended: Promise<Ended>
}

/** Where no `.env` and no data of another run are, and what a program writes below its working directory is ours. */
let directory: string | undefined
function elsewhere(): string {
  if (directory === undefined) {
    directory = mkdtempSync(join(tmpdir(), 'member-apps-cwd-'))
    chmodSync(directory, 0o755)
    process.once('exit', () => rmSync(directory!, { recursive: true, force: true }))
  }
  return directory
}

export function run(
  args: string[],
  env: Record<string, string>,
  options: { group?: boolean; cwd?: string; stdout?: number } = {},
): Program {
  const child = spawn(process.execPath, args, {
    cwd: options.cwd ?? elsewhere(),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', options.stdout ?? 'pipe', 'pipe'],
    detached: options.group === true,
  })
  const [out, err]: Buffer[][] = [[], []]
  child.stdout?.on('data', (chunk) => out!.push(chunk))
  child.stderr!.on('data', (chunk) => err!.push(chunk))
  const stdout = () => Buffer.concat(out!).toString()
  const stderr = () => Buffer.concat(err!).toString()
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stdout: stdout(), stderr: stderr() })),
  )
  return { child, stdout, stderr, ended }
}

export const commandEntry = root('dist/server/commands/main.js')

/** A compiled command, as `npm run` starts it. */
export const command = (
  name: CommandName,
  args: string[],
  env: Record<string, string>,
  options: { cwd?: string } = {},
) => run([commandEntry, name, ...args], env, options)

/** The token that a command prints for these options. */
export const issueToken = async (env: Record<string, string>, ...options: string[]) =>
  (await command('token', options, env).ended).stdout.trim()

/** The options for a token with which the sample app acts for Anna in a club. */
export const annaIn = (club: string) => ['--member', 'anna', '--club', club, '--client', 'trainer-app']

/** The lines of the log among what a program has printed. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export const readLog = (printed: string): any[] =>
  printed
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))

/** The lines of the log about a stop. */
export const readStop = (printed: string): string[] =>
  readLog(printed).flatMap(({ msg }) => (/^SIG|^stopped/.test(msg) ? [msg] : []))

/** The compiled worker, as `member-apps worker` starts it; not waited for. */
export function launchWorker(env: Record<string, string>, atEnd: AtEnd = onTestFinished): Program {
  const worker = run([root('dist/server/worker.js')], env)
  atEnd(() => kill(worker))
  return worker
}

async function kill(program: Program) {
  if (program.child.exitCode === null) program.child.kill('SIGKILL')
  await program.ended
}

/** The compiled service, as `npm start` starts it, on free ports; not waited for. */
export async function launch(
  env: Record<string, string>,
  { atEnd = onTestFinished, entry, args = [], ...options }: Options = {},
) {
  const [port, internalPort] = await Promise.all([freePort(), freePort()])
  const program = run(
    [entry ?? root('dist/server/main.js'), ...args],
    {
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      ...env,
    },
    options,
  )
  atEnd(() => kill(program))
  return {
    ...program,
    port,
    internalPort,
    /** Ends it as an operator does. */
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      program.child.kill(signal)
      return program.ended
    },
  }
}

export type Service = Awaited<ReturnType<typeof launch>>

/** The same, once it listens and has said where. */
export async function start(env: Record<string, string>, options: Options = {}): Promise<Service> {
  const service = await launch(env, options)
  const listening = async () => {
    if (service.child.exitCode !== null) throw new Error(`It ended: ${(await service.ended).stderr}`)
    return service.stdout()
  }
  // In production a line of the log.
  const said = /\ndata [\s\S]*\n\n|"msg":"the service listens"/
  await until(listening, (text) => said.test(text))
  return service
}

/** A data directory, which PostgreSQL's user may enter also when the tests are run by root; its server ends with the test. */
export async function dataDirectory(atEnd: AtEnd = onTestFinished): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-process-'))
  await chmod(directory, 0o755)
  atEnd(async () => {
    const pid = await findPostgres(directory)
    if (pid !== 0) process.kill(pid, 'SIGQUIT')
    await until(
      () => findPostgres(directory),
      (left) => left === 0,
    )
    await rm(directory, { recursive: true, force: true })
  })
  return directory
}

/** The settings of a service on a database of its own, by default a migrated one without rows. */
export async function externalSettings(
  database: (atEnd: AtEnd) => Promise<string> = migratedDatabase,
  atEnd: AtEnd = onTestFinished,
) {
  return { DATA_DIR: await dataDirectory(atEnd), DATABASE_URL: await database(atEnd) }
}

/** The same with the cluster of an embedded server, empty: for tests that are not about a first start. */
export async function dataDirectoryWithCluster(atEnd: AtEnd = onTestFinished): Promise<string> {
  const directory = await dataDirectory(atEnd)
  await copyCluster(directory)
  return directory
}

/** The same with the demo data, in a test of the process project. */
export async function dataDirectoryWithDemo(atEnd: AtEnd = onTestFinished): Promise<string> {
  const directory = await dataDirectory(atEnd)
  await copyDemoCluster(inject('demoCluster'), directory)
  return directory
}

/** The process of the embedded server that runs on a data directory; 0 when none does. */
export async function findPostgres(directory: string): Promise<number> {
  const file = join(directory, 'postgres', 'data', 'postmaster.pid')
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => '0'), 10)
  if (pid === 0 || !isAlive(pid)) return 0
  // Linux knows whether the number belongs to another program by now, or to a server that nobody has reaped yet.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres')
  return command.includes('postgres') ? pid : 0
}

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  body: any
}

/** One request over a connection of its own. */
export function send(
  port: number,
  method: string,
  path: string,
  { headers = {}, body, form }: { headers?: OutgoingHttpHeaders; body?: unknown; form?: string } = {},
): Promise<Answer> {
  const content = body === undefined ? undefined : JSON.stringify(body)
  const type = content !== undefined && {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, agent: false, headers: { ...type, ...headers } })
    sent.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const body = /json/.test(response.headers['content-type'] ?? '') ? JSON.parse(text) : undefined
        resolve({ status: response.statusCode!, headers: response.headers, text, body })
      })
    })
    sent.end(form ?? content)
  })
}

/** A request to the apps API with the token that the service printed, or another. */
export const asAnna = (service: Service, method: string, path: string, body?: unknown, token = readToken(service)) =>
  send(service.port, method, `/v1${path}`, {
    headers: { host: 'apps.localhost', authorization: `Bearer ${token}` },
    body,
  })

/** The token of the printed line. */
export function readToken({ stdout }: Pick<Service, 'stdout'>): string {
  const [, token] = /Bearer ([\w.-]+)/.exec(stdout()) ?? []
  return token!
}

/** What `look` gives, once it is as wanted. Also outside of a test, where `expect.poll` is not to be had. */
export async function until<T>(read: () => Promise<T>, wanted: (value: T) => boolean, timeout = 60_000): Promise<T> {
  const start = performance.now()
  for (;;) {
    const found = await read()
    if (wanted(found)) return found
    if (performance.now() - start > timeout) throw new Error(`After ${timeout} ms it is still: ${String(found)}`)
    await pause(20)
  }
}

/** Below those that systems give to clients and to `listen(0)`: Linux from 32,768 on, others from 49,152. */
const PORTS = [10_000, 32_768] as const

/**
 * A port for programs that have to know theirs beforehand. A UDP socket of the same number, which stays open, reserves it among
 * all runs of the suite on this machine.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(...PORTS)
  return (await isReserved(port)) && (await isFree(port)) ? port : freePort()
}

const isReserved = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createSocket('udp4', () => {}).unref()
    socket.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true))
  })

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })

/** Whether nobody listens there any more. */
export const refuses = (port: number) =>
  send(port, 'GET', '/').then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  )
