import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findBinaries } from '../../../prisma/embedded/binaries.ts'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { pgClient } from '../../support/pg-client.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { clusterDirectory, isRoot, query, readPid, started, usedDirectory } from './servers.ts'

describe('an embedded server', () => {
  it('keeps data, URL and password over a restart', async () => {
    const directory = await temporaryDirectory()
    const first = await started(directory)
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS value')
    await first.stop()
    expect(await readPid(directory)).toBe(0)
    const second = await started(directory)
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual([1])
  })

  it('listens on the loopback only, asks for the password, sorts by bytes, and is in UTC', async () => {
    const directory = await temporaryDirectory()
    const { url, superuserUrl } = await started(directory)
    const settings = ['listen_addresses', 'unix_socket_directories', 'timezone', 'lc_messages']
    expect(await query(superuserUrl, `SELECT ${settings.map((name) => `current_setting('${name}')`)}`)).toEqual([
      '127.0.0.1',
      '',
      'UTC',
      'C',
    ])
    expect(await query(url, `SELECT datcollate, 'B' < 'a' FROM pg_database WHERE datname = 'member_apps'`)).toEqual([
      'C',
      true,
    ])
    const wrong = new URL(url)
    wrong.password = 'guessed'
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed')
    expect((await stat(join(directory, 'postgres', 'password'))).mode & 0o777).toBe(0o600)
  })

  it('chooses another port when its own is in use', async () => {
    const directory = await clusterDirectory()
    const first = await started(directory)
    await first.stop()
    const other = await started(await clusterDirectory())
    await writeFile(join(directory, 'postgres', 'port'), new URL(other.url).port)
    const second = await started(directory)
    expect(new URL(second.url).port).not.toBe(new URL(other.url).port)
    expect(await query(second.url, 'SELECT 1')).toEqual([1])
  })

  it('keeps running after stop() while another client is connected', async () => {
    const directory = await clusterDirectory()
    const server = await started(directory)
    const guest = pgClient({ connectionString: server.url })
    await guest.connect()
    await server.stop()
    expect((await guest.query('SELECT 1 AS value')).rows).toEqual([{ value: 1 }])
    await guest.end()
    await (await started(directory)).stop()
    expect(await readPid(directory)).toBe(0)
  })

  it('runs when one process starts it while another stops it', async () => {
    const directory = await clusterDirectory()
    let server = await started(directory)
    for (let round = 0; round < 5; round++) {
      const [next] = await Promise.all([started(directory), server.stop()])
      expect(await query(next.url, 'SELECT 1')).toEqual([1])
      const delayed = next.stop()
      await new Promise((resolve) => setTimeout(resolve, round * 15))
      server = await started(directory)
      await delayed
      expect(await query(server.url, 'SELECT 1')).toEqual([1])
    }
  })

  it('is shared by those that start it on a new directory at once', async () => {
    const directory = await temporaryDirectory()
    const servers = await Promise.all([started(directory), started(directory)])
    expect(new Set(servers.map(({ url }) => url)).size).toBe(1)
    expect(await query(servers[0].url, 'SELECT 1')).toEqual([1])
  })
})

describe('startEmbedded throws with the reason', () => {
  it('when the directory is a file', async () => {
    const file = join(await temporaryDirectory(), 'data')
    await writeFile(file, '')
    await expect(startEmbedded(file)).rejects.toThrow(`The data directory ${file} cannot be used: that is a file.`)
    await expect(startEmbedded(join(file, 'below'))).rejects.toThrow('cannot be used: part of the path is a file.')
  })

  it('when its path is too long', async () => {
    const directory = await temporaryDirectory()
    await expect(startEmbedded(join(directory, 'x'.repeat(300)))).rejects.toThrow(
      'cannot be used: the path is too long.',
    )
    const deep = join(directory, ...Array(8).fill('x'.repeat(200)))
    await expect(startEmbedded(deep)).rejects.toThrow('too long')
  })

  it.skipIf(isRoot)('when the directory is read-only (skipped for root, who may write)', async () => {
    const directory = await temporaryDirectory(0o555)
    await expect(startEmbedded(directory)).rejects.toThrow('cannot be used: this user may not write there.')
  })

  it('when the data is of another major version of PostgreSQL', async () => {
    const directory = await usedDirectory()
    await writeFile(join(directory, 'postgres', 'data', 'PG_VERSION'), '15\n')
    await expect(startEmbedded(directory)).rejects.toThrow(
      /is from PostgreSQL 15, but the embedded server is PostgreSQL 18/,
    )
  })

  it('when there are no binaries for the platform', async () => {
    await expect(findBinaries('sunos', 'sparc')).rejects.toThrow(/\(sunos-sparc\)\. Set DATABASE_URL/)
  })
})
