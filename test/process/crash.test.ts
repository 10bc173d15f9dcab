import { describe, expect, it } from 'vitest'
import { asAnna, dataDirectory, dataDirectoryWithDemo, findPostgres, readToken, send, start } from './service.ts'

it('a service that is killed loses no acknowledged write, and needs no cleanup before the next start', async () => {
  const DATA_DIR = await dataDirectoryWithDemo()
  const killed = await start({ DATA_DIR })
  const token = readToken(killed)
  const written: string[] = []
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let n = 0; ; n++) {
      const key = `w${writer}-${n}`
      const { status } = await asAnna(killed, 'PUT', `/storage/kept/${key}`, { value: key })
      if (status === 200) written.push(key)
      if (written.length === 100) killed.child.kill('SIGKILL')
    }
  })
  await Promise.allSettled(writers)
  expect(await killed.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  const server = await findPostgres(DATA_DIR)
  expect(server).not.toBe(0)

  const next = await start({ DATA_DIR })
  expect(next.stderr()).toBe('')
  expect(await findPostgres(DATA_DIR)).toBe(server)
  expect(written.length).toBeGreaterThanOrEqual(100)
  for (const key of written) {
    const { body } = await asAnna(next, 'GET', `/storage/kept/${key}`, undefined, token)
    expect(body).toMatchObject({ key, value: key })
  }
  expect(await next.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(await findPostgres(DATA_DIR)).toBe(0)
})

describe('two services on one data directory', () => {
  it('share the database and the key, and each keeps running when the other ends', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const first = await start({ DATA_DIR })
    const server = await findPostgres(DATA_DIR)
    const second = await start({ DATA_DIR })
    expect(await findPostgres(DATA_DIR)).toBe(server)

    await asAnna(first, 'PUT', '/storage/shared/entry', { value: 'of the first' })
    const seen = await asAnna(second, 'GET', '/storage/shared/entry', undefined, readToken(first))
    expect(seen.body).toMatchObject({ value: 'of the first' })

    expect(await first.stop()).toMatchObject({ code: 0, stderr: '' })
    expect(await findPostgres(DATA_DIR)).toBe(server)
    expect((await send(second.internalPort, 'GET', '/readyz')).status).toBe(200)
    expect((await asAnna(second, 'PUT', '/storage/shared/entry', { value: 'of the second' })).status).toBe(200)

    const third = await start({ DATA_DIR })
    second.child.kill('SIGKILL')
    await second.ended
    expect((await asAnna(third, 'GET', '/storage/shared/entry')).body).toMatchObject({ value: 'of the second' })
    expect(await third.stop()).toMatchObject({ code: 0, stderr: '' })
    expect(await findPostgres(DATA_DIR)).toBe(0)
  })

  it('both start when started at once on an empty directory, and seed it once', async () => {
    const DATA_DIR = await dataDirectory()
    const [one, other] = await Promise.all([start({ DATA_DIR }), start({ DATA_DIR })])
    for (const service of [one, other]) {
      const { status, body } = await asAnna(service, 'GET', '/me/profile')
      expect([status, body.id]).toEqual([200, 'anna'])
    }
    const ends = await Promise.all([one.stop(), other.stop()])
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(await findPostgres(DATA_DIR)).toBe(0)
  })
})
