import type { ChildProcess } from 'node:child_process'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { dataDirectory, freePort, until } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'

export const hasRedis = !spawnSync('redis-server', ['--version']).error
/** For the titles of tests that need it. */
export const skipReason = hasRedis ? '' : ' (skipped: redis-server is not installed)'

interface Options {
  password?: string
  /** Files of a certificate and its key: the port speaks TLS. */
  tls?: { cert: string; key: string }
  atEnd?: AtEnd
}

export type RedisServer = Awaited<ReturnType<typeof redisServer>>

/** A Redis of one test, at a free port, that keeps nothing on disk. It runs once `start` was called. */
export async function redisServer({ password, tls, atEnd = onTestFinished }: Options = {}) {
  const directory = await dataDirectory(atEnd)
  const port = await freePort()
  let child: ChildProcess | undefined

  const args = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory]
  if (password !== undefined) args.push('--requirepass', password)
  if (!tls) args.push('--port', String(port))
  else {
    args.push('--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no')
    args.push('--tls-cert-file', tls.cert, '--tls-key-file', tls.key)
  }
  const cliArgs = ['-p', String(port), ...(password ? ['-a', password, '--no-auth-warning'] : [])]
  if (tls) cliArgs.push('--tls', '--cacert', tls.cert)
  const cli = async (...command: string[]) =>
    (await promisify(execFile)('redis-cli', [...cliArgs, ...command])).stdout.trim()

  const server = {
    port,
    url: `redis${tls ? 's' : ''}://${password ? `:${password}@` : ''}127.0.0.1:${port}`,
    cli,
    async start() {
      child = spawn('redis-server', args, { stdio: 'ignore' })
      await until(
        () => cli('ping').catch(() => ''),
        (answer) => answer === 'PONG',
      )
    },
    /** SIGKILL: its connections are closed by the system, and its counts are gone. */
    async kill() {
      if (!child) return
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      child = undefined
      await ended
    },
    hang: () => child!.kill('SIGSTOP'),
    goOn: () => child!.kill('SIGCONT'),
    /** Calls of a command since the start. */
    async calls(command: string) {
      const [, calls] = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await cli('info', 'commandstats')) ?? []
      return Number(calls ?? 0)
    },
  }
  atEnd(server.kill)
  return server
}

export async function startRedis(options: Options = {}): Promise<RedisServer> {
  const server = await redisServer(options)
  await server.start()
  return server
}
