import { spawn } from 'node:child_process'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accountFor } from '../../../prisma/embedded/account.ts'
import { findBinaries, usableBinaries } from '../../../prisma/embedded/binaries.ts'
import { dataDirectoryWithCluster, freePort, until } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { query } from '../../support/databases.ts'
import type { Clock } from './clock.ts'

/** What a day of the clock has in a real one: 1,440 looks of autovacuum, a checkpoint every five minutes; here seconds have to do. */
const settings = {
  autovacuum_naptime: '1s',
  autovacuum_vacuum_cost_delay: '0',
  fsync: 'off',
  full_page_writes: 'off',
  // A statement that a jump of the clock meets.
  log_min_messages: 'fatal',
}

/**
 * A PostgreSQL whose clock is the given one; it ends with the tests. Its steady clock stays that of the machine: latches wait by
 * it.
 */
export async function startPostgres(atEnd: AtEnd, clock: Clock): Promise<string> {
  const directory = await dataDirectoryWithCluster(atEnd)
  const home = join(directory, 'postgres')
  const port = await freePort()
  const account = await accountFor(home)
  const { native } = await usableBinaries(await findBinaries(), account, directory)
  await writeFile(join(home, 'data', 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
  const network = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const lines = Object.entries({ ...network, ...settings }).map(([name, value]) => `${name} = '${value}'\n`)
  await appendFile(join(home, 'data', 'postgresql.auto.conf'), lines.join(''))
  spawn(join(native, 'bin', 'postgres'), ['-D', 'data'], {
    cwd: home,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...clock.env, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    stdio: 'ignore',
    ...(account && { uid: account.uid, gid: account.gid }),
  })
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  await until(
    () => query(url, 'SELECT').catch(() => undefined),
    (rows) => rows !== undefined,
  )
  return url
}
