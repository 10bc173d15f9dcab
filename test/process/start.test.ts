import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { pgClient } from '../support/pg-client.ts'
import type { Service } from './service.ts'
import { asAnna, dataDirectory, dataDirectoryWithDemo, send, start } from './service.ts'

describe('a start', () => {
  it('prints a line to paste on an empty directory, and later starts keep the data', async ({ annotate }) => {
    const DATA_DIR = await dataDirectory()
    const [first, firstMs] = await timed(() => start({ DATA_DIR }))
    const { internalPort } = first
    const printed = first.stdout()
    expect(printed).toContain(`http://localhost:${internalPort}/trpc\n`)
    expect(first.stderr()).toBe('')
    expect(await paste(first)).toEqual({
      id: 'anna',
      firstName: 'Anna',
      lastName: 'Berger',
      email: 'anna.berger@example.org',
      birthday: '1991-04-17',
      image: 'https://images.example.org/anna.jpg',
    })
    expect((await send(internalPort, 'GET', '/readyz')).status).toBe(200)
    expect((await asAnna(first, 'PUT', '/storage/kept/entry', { value: 'of the first start' })).status).toBe(200)
    expect(await first.stop()).toMatchObject({ code: 0, stderr: '' })

    const [later, laterMs] = await timed(() => start({ DATA_DIR }))
    expect(await paste(later)).toMatchObject({ id: 'anna' })
    const { body } = await asAnna(later, 'GET', '/storage/kept/entry')
    expect(body).toMatchObject({ key: 'entry', value: 'of the first start' })
    expect(await later.stop()).toMatchObject({ code: 0, stderr: '' })
    // The aims hold on a machine that has nothing else to do; rest.test.ts bounds the CPU time of a start on any.
    await annotate(`to listening: ${firstMs} ms the first time, ${laterMs} ms later (aims: 5000, 1500)`)
  })

  it("does not load the demo data into a database that has been used, but moves the demo's events to today", async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const first = await start({ DATA_DIR })
    const events = async () => (await client.query('SELECT start FROM "Event" ORDER BY id')).rows
    const { startEmbedded } = await import('../../prisma/embedded/start.ts')
    const embedded = await startEmbedded(DATA_DIR)
    const client = pgClient(embedded.url)
    await client.connect()
    const before = await events()
    await client.query(`DELETE FROM "Client"; UPDATE "Person" SET "firstName" = 'Anne' WHERE id = 'anna'`)
    await client.query(`UPDATE "Event" SET start = start - interval '99 days', "end" = "end" - interval '99 days'`)
    await first.stop()

    const later = await start({ DATA_DIR })
    expect(later.stdout()).not.toContain('curl')
    expect(before).toHaveLength(7)
    // A day later, if it has become midnight meanwhile.
    for (const [i, { start }] of (await events()).entries()) {
      expect([0, 86_400_000]).toContain(start.getTime() - before[i]!.start.getTime())
    }
    await client.end()
    await embedded.stop()
    await later.stop()
  })
})

async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now()
  const result = await action()
  return [result, Math.round(performance.now() - start)]
}

/** Does what the newcomer does: runs the printed line; without curl, sends what it says. */
async function paste({ stdout }: Service): Promise<unknown> {
  const line = stdout()
    .split('\n')
    .find((text) => text.startsWith('curl '))!
  const [, header, url] = /^curl -H '([^']+)' (\S+)$/.exec(line)!
  const shell = spawn('/bin/sh', ['-c', `command -v curl >/dev/null || exit 99; ${line} -sS -f`])
  let output = ''
  shell.stdout.on('data', (chunk) => (output += chunk))
  let complaint = ''
  shell.stderr.on('data', (chunk) => (complaint += chunk))
  const [code] = await once(shell, 'close')
  if (code === 99) {
    const { host, port, pathname } = new URL(url!)
    const answer = await send(Number(port), 'GET', pathname, {
      headers: { host, authorization: header!.replace('Authorization: ', '') },
    })
    expect(answer.status).toBe(200)
    return answer.body
  }
  expect(complaint).toBe('')
  expect(code).toBe(0)
  return JSON.parse(output)
}
