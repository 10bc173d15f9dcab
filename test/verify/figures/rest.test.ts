import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { dataDirectory, freePort, until } from '../../process/service.ts'
import { emptyDatabase } from '../../support/databases.ts'
import { noteFigure } from '../noted-figure.ts'

/** Preloaded, so that the process reports its CPU time and its memory when it is asked. */
const METER = `data:text/javascript,process.on('message',()=>process.send([process.cpuUsage(),process.memoryUsage.rss()]));process.channel.unref()`

const main = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url))

/**
 * Starts a service: seconds of CPU until it listens, and MB of memory after 70 s at rest, which others need not wait for. The first
 * housekeeping begins after a minute.
 */
async function measure(env: Record<string, string>) {
  const [port, internalPort] = await Promise.all([freePort(), freePort()])
  const child = spawn(process.execPath, ['--import', METER, main], {
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

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

it('a service with nothing to migrate starts within 0.55 s of CPU and rests within 86 MB', {
  timeout: 180_000,
}, async () => {
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
  for (let start = 0; start < 3; start++) {
    references.push(reference(), reference(), reference())
    const { seconds, rest } = await measure(env)
    starts.push(seconds)
    rests.push(rest())
  }
  const megabytes = await Promise.all(rests)
  const start = { name: 'start', value: median(starts)! / median(references)!, unit: '×', bound: 0.55 / 0.29 }
  const rest = { name: 'at rest', value: median(megabytes)!, unit: 'MB', bound: 86 }
  for (const figure of [start, rest]) {
    noteFigure(figure)
    expect.soft(figure.value, figure.name).toBeLessThan(figure.bound)
  }
})
