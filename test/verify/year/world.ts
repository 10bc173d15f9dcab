import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { firstPartyScopes } from '../../../routers/kernel/scopes.ts'
import { startMailServer } from '../../oauth/mail-server.ts'
import { commandEntry, dataDirectory, freePort, run, send, until } from '../../process/service.ts'
import { chance } from '../../support/chance.ts'
import type { AtEnd } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { newIds } from '../../support/tenant.ts'
import { selfSigned, startReceiver } from '../../webhooks/receiver.ts'
import { demoToken } from '../demo.ts'
import type { Program } from '../topology/program.ts'
import { endProgram, expectRunning, startProgram } from '../topology/program.ts'
import { openClock } from './clock.ts'
import { firstRecords } from './night.ts'
import { addApps, writeFirstFiles } from './platform.ts'
import { startPostgres } from './postgres.ts'

const DAY_MS = 86_400_000
const root = join(import.meta.dirname, '../../..')
const meter = new URL('../soak/meter.mjs', import.meta.url).href

/** A member's access by an app. */
export interface Session {
  member: string
  client: string
  refreshToken: string
}

export interface Memory {
  rss: number
  heap: number
}

export type YearWorld = Awaited<ReturnType<typeof startYear>>

/** One club platform: PostgreSQL, a node and a worker, whose clock is the test's. */
export async function startYear(atEnd: AtEnd, days: number) {
  const directory = await dataDirectory(atEnd)
  const clock = await openClock(directory)
  const databaseUrl = await startPostgres(atEnd, clock)
  const draw = chance('year')
  const last = new Date(Date.now() + (days + 30) * DAY_MS)
  const receiver = await startReceiver({
    certificate: selfSigned(['localhost'], { notAfterDate: last }),
    answer({ path }, response) {
      received++
      const status = path === '/0' ? 500 : path === '/1' ? 410 : draw(20) === 0 ? 503 : 204
      response.writeHead(status).end()
    },
  })
  let received = 0
  atEnd(receiver.close)
  const mail = await startMailServer()
  atEnd(mail.close)
  const [publicPort, internalPort, workerPort] = [await freePort(), await freePort(), await freePort()]
  const authorities = join(directory, 'receivers.pem')
  await writeFile(authorities, receiver.ca)
  const home = join(directory, 'data')
  await mkdir(home)

  const settings = {
    ...clock.env,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    PORT: String(publicPort),
    INTERNAL_PORT: String(internalPort),
    WORKER_PORT: String(workerPort),
    SECRETS_KEY,
    DATA_DIR: home,
    DEVELOPMENT_TOKENS: 'true',
    DRAIN_SECONDS: '0',
    SMTP_URL: mail.url,
    MAIL_FROM: 'Year <year@example.org>',
    WEBHOOK_WORKER: 'false',
    WEBHOOK_ALLOW: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: authorities,
  }
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await run([commandEntry, ...args], { ...settings, DATABASE_URL: databaseUrl })
      .ended
    if (code !== 0) throw new Error(`${args[0]} failed.\n${stdout}${stderr}`)
  }
  await done('migrate')
  await writeFirstFiles(directory)
  await done('import', join(directory, 'first'))
  await addApps(databaseUrl, receiver.url(''))

  /** Errors of the log. */
  const failures: string[] = []
  const programs = new Map<'node' | 'worker', Program>()
  async function start(name: 'node' | 'worker', file: string, port: number, address: string) {
    const program = startProgram([process.execPath, '--import', meter, join(root, 'dist/server', file)], {
      cwd: directory,
      env: { ...settings, DATABASE_URL: address },
      ipc: true,
      onLine(line) {
        // A statement was in progress when the clock jumped, for longer than one may take.
        if (line.includes('"Query read timeout"')) return
        if (/"level":(?:50|60)|MaxListeners|uncaught|^(?!\{).*Error:/.test(line)) failures.push(`${name}: ${line}`)
      },
    })
    programs.set(name, program)
    await until(
      async () => {
        expectRunning(program)
        return (await send(port, 'GET', '/readyz').catch(() => undefined))?.status
      },
      (status) => status === 200,
    )
  }
  const stop = () => Promise.all([...programs.values()].map(endProgram))
  atEnd(async () => void (await stop()))
  /** Both, also in place of those before. */
  async function restart(address = databaseUrl) {
    await stop()
    await start('node', 'main.js', internalPort, address)
    await start('worker', 'worker.js', workerPort, address)
  }
  await restart()
  const platformToken = await demoToken(home, {
    client: 'platform',
    organisation: 'provider',
    member: null,
    scope: firstPartyScopes.join(' '),
    expiresInSeconds: (days + 30) * (DAY_MS / 1000),
  })

  return {
    directory,
    /** DATA_DIR of both. */
    home,
    clock,
    databaseUrl,
    publicPort,
    internalPort,
    platformToken,
    /** For the steps of a sign-in, which name another tenant's only where none is given. */
    ids: newIds(),
    mail,
    draw,
    records: firstRecords(),
    sessions: [] as Session[],
    signIns: 0,
    failures,
    received: () => received,
    restart,
    /** The node's log. */
    output: () => programs.get('node')!.output(),
    /** After the clock has jumped: what was due meanwhile is begun when a process wakes. */
    wake: () => Promise.all([internalPort, workerPort].map((port) => send(port, 'GET', '/healthz'))),
    /** Resident memory and heap in MB, after a full collection of garbage. */
    async memory() {
      const figures = [...programs].map(async ([name, { child }]) => {
        const answered = once(child, 'message')
        child.send('figures')
        const [{ rss, heap }] = await answered
        return [name, { rss: rss / 1e6, heap: heap / 1e6 }] as const
      })
      return Object.fromEntries(await Promise.all(figures)) as Record<'node' | 'worker', Memory>
    },
  }
}
