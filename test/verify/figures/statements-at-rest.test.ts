import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { dataDirectory, run, start } from '../../process/service.ts'
import { countingProxy } from '../../support/counting-proxy.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { noteFigure } from '../noted-figure.ts'

const MINUTE_MS = 60_000
/** Of the ten after a start in which the hourly tasks run. */
const BUSY_MINUTES = 4

it('a node with its worker sends at most 60 statements a minute at rest, also while its hourly tasks run, a worker 20', {
  timeout: 10 * MINUTE_MS,
}, async () => {
  const url = await emptyDatabase()
  const [ofNode, ofWorker] = [await countingProxy(url), await countingProxy(url)]
  const env = { NODE_ENV: 'production', SECRETS_KEY: Buffer.alloc(32).toString('base64') }
  await start({ ...env, DATABASE_URL: ofNode.url, DATA_DIR: await dataDirectory() })
  const entry = fileURLToPath(new URL('../../../dist/server/worker.js', import.meta.url))
  const worker = run([entry], { ...env, DATABASE_URL: ofWorker.url })
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

  const hourly = `name NOT IN ('oauth-records', 'mails')`
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
