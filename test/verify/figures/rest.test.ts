import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { dataDirectory, freePort, run, start, until } from '../../process/service.ts'
import { countingProxy } from '../../support/counting-proxy.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { holdFigure } from '../held-figure.ts'
import { median } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'

/** Preloaded, so that the process reports its CPU time and its memory when it is asked. */
const METER = `data:text/javascript,process.on('message',()=>process.send([process.cpuUsage(),process.memoryUsage.rss()]));process.channel.unref()`

const program = (name: string) => fileURLToPath(new URL(`../../../dist/server/${name}.js`, import.meta.url))

/**
 * Starts a service: seconds of CPU until it listens, and MB of memory after 70 s at rest, which others need not wait for. The first
 * housekeeping begins after a minute.
 */
async function measure(env: Record<string, string>) {
  const [port, internalPort] = await Promise.all([freePort(), freePort()])
  const child = spawn(process.execPath, ['--import', METER, program('main')], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, PORT: String(port), INTERNAL_PORT: String(internalPort), ...env },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout!.on('data', (chunk) => (said += chunk))
  const ask = async () => {
    const answer = once(child, 'message')
    child.send('how much')
    const [[{ user, system }, bytes]] = (await answer) as [[NodeJS.CpuUsage, number]]
    return { seconds: (user + system) / 1e6, megabytes: bytes / 2 ** 20 }
  }
  await until(
    async () => said,
    (text) => text.includes('the service listens'),
  )
  const end = async () => {
    child.kill()
    await once(child, 'exit')
  }
  const rest = async () => {
    await pause(70_000)
    const { megabytes } = await ask()
    await end()
    return megabytes
  }
  const { seconds } = await ask()
  return { seconds, rest, end }
}

/** CPU seconds of loading one package, the largest of ours: 0.29 on the machine of the figures; the limit grows with it. */
function reference() {
  const load = `await import('oidc-provider'); const { user, system } = process.cpuUsage(); console.log((user + system) / 1e6)`
  return Number(
    execFileSync(process.execPath, ['--input-type=module', '-e', load], { stdio: ['ignore', 'pipe', 'ignore'] }),
  )
}

it('a service with nothing to migrate starts within 0.55 s of CPU and rests within 86 MB', async () => {
  const env = {
    DATABASE_URL: await emptyDatabase(),
    DATA_DIR: await dataDirectory(),
    NODE_ENV: 'production',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  }
  // Migrates.
  await (await measure(env)).end()
  const references: number[] = []
  const starts: number[] = []
  const rests: Promise<number>[] = []
  for (let round = 0; round < 3; round++) {
    references.push(reference(), reference(), reference())
    const { seconds, rest } = await measure(env)
    starts.push(seconds)
    rests.push(rest())
  }
  const megabytes = await Promise.all(rests)
  holdFigure('start', median(starts) / median(references), '×', 0.55 / 0.29)
  holdFigure('at rest', median(megabytes), 'MB', 86)
})

const MINUTE_MS = 60_000
/** In this many of the ten minutes after a start the hourly tasks run. */
const BUSY_MINUTES = 4

it('a node with its worker sends at most 60 statements a minute at rest, also while its hourly tasks run, a worker 20', async () => {
  const url = await emptyDatabase()
  const [ofNode, ofWorker] = [await countingProxy(url), await countingProxy(url)]
  const env = { NODE_ENV: 'production', SECRETS_KEY: Buffer.alloc(32).toString('base64') }
  await start({ ...env, DATABASE_URL: ofNode.url, DATA_DIR: await dataDirectory() })
  const worker = run([program('worker')], { ...env, DATABASE_URL: ofWorker.url })
  onTestFinished(async () => {
    worker.child.kill()
    await worker.ended
  })
  const inAMinute = async () => {
    const before = [ofNode.statements(), ofWorker.statements()]
    await pause(MINUTE_MS)
    return [ofNode.statements() - before[0]!, ofWorker.statements() - before[1]!] as const
  }
  const check = (name: string, value: number, bound: number) => {
    noteFigure({ name, value, unit: 'statements a minute', bound })
    expect.soft(value, name).toBeGreaterThan(0)
    expect.soft(value, name).toBeLessThanOrEqual(bound)
  }
  await pause(MINUTE_MS / 2)
  const busy: number[] = []
  for (let minute = 0; minute < BUSY_MINUTES; minute++) busy.push((await inAMinute())[0])
  check('node at rest, its hourly tasks under way', Math.max(...busy), 60)

  // Tasks of each minute are due a minute after they finish.
  const hourly = `("finishedAt" IS NULL OR "nextAt" > "finishedAt" + interval '30 minutes')`
  const [{ done, tasks }] = await query(
    url,
    `SELECT count("finishedAt")::int AS done, count(*)::int AS tasks FROM "Housekeeping" WHERE ${hourly}`,
  )
  expect(done).toBe(2 * BUSY_MINUTES)
  expect(tasks).toBeGreaterThan(done)
  await query(url, `UPDATE "Housekeeping" SET "nextAt" = now() + interval '1 hour' WHERE ${hourly}`)
  const [node, apart] = await inAMinute()
  check('node at rest', node, 60)
  check('worker at rest', apart, 20)
})
