import { appendFile, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { accountFor, run } from '../../../prisma/embedded/account.ts'
import { findBinaries, runBinary, usableBinaries } from '../../../prisma/embedded/binaries.ts'
import { dataDirectoryWithCluster, findPostgres, freePort, until } from '../../process/service.ts'

export type OwnPostgres = Awaited<ReturnType<typeof ownPostgres>>

/** A PostgreSQL of the test's own, which it may restart, kill and replace; it is not started yet, and ends with the test. */
export async function ownPostgres(settings: Record<string, string> = {}) {
  const directory = await dataDirectoryWithCluster()
  const home = join(directory, 'postgres')
  const data = join(home, 'data')
  const port = await freePort()
  const account = await accountFor(home)
  const binaries = await usableBinaries(await findBinaries(), account, directory)
  const set = (more: Record<string, string>) => {
    const lines = Object.entries(more).map(([name, value]) => `${name} = '${value}'\n`)
    return appendFile(join(data, 'postgresql.auto.conf'), lines.join(''))
  }
  const control = (...args: string[]) =>
    runBinary(binaries, 'pg_ctl', [...args, '-s', '-D', 'data'], { account, cwd: home })
  const hosts = ['all', 'replication'].map((what) => `host ${what} all 127.0.0.1/32 trust\n`)
  await writeFile(join(data, 'pg_hba.conf'), hosts.join(''))
  const network = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  await set({ ...network, ...settings })

  const server = {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    port,
    data,
    set,
    /** Another one with the same data, which must not be in use; once both run, it follows this one. */
    async standby() {
      const standby = await ownPostgres()
      await run('/bin/cp', ['-Rp', `${data}/.`, standby.data], { account, cwd: '/' })
      await cp(join(data, 'pg_hba.conf'), join(standby.data, 'standby.signal'))
      const follows = `host=127.0.0.1 port=${port} user=postgres`
      await standby.set({ port: String(standby.port), primary_conninfo: follows })
      return standby
    },
    /** Resolves once it takes connections. */
    async start() {
      const begun = async () => (await control('start', '-w', '-l', 'log')).code
      // After a kill, its processes take a moment to notice.
      await until(begun, (code) => code === 0)
    },
    /** `pg_ctl restart -m fast`: breaks all connections. */
    restart: () => control('restart', '-w', '-m', 'fast', '-l', 'log'),
    /** kill -9 of the postmaster. */
    async kill() {
      const pid = await findPostgres(directory)
      if (pid !== 0) process.kill(pid, 'SIGKILL')
    },
  }
  onTestFinished(async () => {
    await server.kill()
    await until(
      () => findPostgres(directory),
      (pid) => pid === 0,
    )
  })
  return server
}
