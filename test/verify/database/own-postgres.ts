import { appendFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Account } from '../../../prisma/embedded/account.ts'
import { accountFor, run } from '../../../prisma/embedded/account.ts'
import type { Binaries } from '../../../prisma/embedded/binaries.ts'
import { findBinaries, runBinary, usableBinaries } from '../../../prisma/embedded/binaries.ts'
import { dataDirectoryWithCluster, freePort, until } from '../../process/service.ts'

/** A PostgreSQL of the test's own, which it may restart, kill and replace. */
export class OwnPostgres {
  readonly port: number
  readonly #data: string
  readonly #home: string
  readonly #account: Account | undefined
  readonly #binaries: Binaries

  private constructor(home: string, port: number, account: Account | undefined, binaries: Binaries) {
    this.#home = home
    this.#data = join(home, 'data')
    this.port = port
    this.#account = account
    this.#binaries = binaries
  }

  get url() {
    return `postgresql://postgres@127.0.0.1:${this.port}/postgres`
  }

  /** One that is not started yet; it ends with the test. */
  static async create(settings: Record<string, string> = {}): Promise<OwnPostgres> {
    const directory = await dataDirectoryWithCluster()
    const home = join(directory, 'postgres')
    const account = await accountFor(home)
    const server = new OwnPostgres(
      home,
      await freePort(),
      account,
      await usableBinaries(await findBinaries(), account, directory),
    )
    const hosts = ['all', 'replication'].map((what) => `host ${what} all 127.0.0.1/32 trust\n`)
    await writeFile(join(server.#data, 'pg_hba.conf'), hosts.join(''))
    await server.#set({
      port: String(server.port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      ...settings,
    })
    onTestFinished(async () => {
      await server.kill()
      await server.#isGone()
    })
    return server
  }

  /** Another one with the same data, which must not be in use; once both run, it follows this one. */
  async standby(settings: Record<string, string> = {}): Promise<OwnPostgres> {
    const standby = await OwnPostgres.create()
    await run('/bin/cp', ['-Rp', `${this.#data}/.`, standby.#data], { account: this.#account, cwd: '/' })
    await cp(join(this.#data, 'pg_hba.conf'), join(standby.#data, 'standby.signal'))
    const follows = `host=127.0.0.1 port=${this.port} user=postgres`
    await standby.#set({ port: String(standby.port), primary_conninfo: follows, ...settings })
    return standby
  }

  async #set(settings: Record<string, string>) {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    await appendFile(join(this.#data, 'postgresql.auto.conf'), lines.join(''))
  }

  /** Resolves once it takes connections. */
  async start() {
    const begun = async () => (await this.#control('start', '-w', '-l', 'log')).code
    // After a kill, its processes take a moment to notice.
    await until(begun, (code) => code === 0)
  }

  /** `pg_ctl restart -m fast`: breaks all connections. */
  async restart() {
    await this.#control('restart', '-w', '-m', 'fast', '-l', 'log')
  }

  /** kill -9 of the postmaster. */
  async kill() {
    const pid = await this.#pid()
    if (pid !== 0 && !(await this.#isGone(0))) process.kill(pid, 'SIGKILL')
  }

  async #isGone(timeout = 60_000): Promise<boolean> {
    const pid = await this.#pid()
    const alive = async () => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return command.includes('postgres')
    }
    if (timeout === 0) return !(await alive())
    await until(alive, (found) => !found, timeout)
    return true
  }

  async #pid() {
    return Number.parseInt(await readFile(join(this.#data, 'postmaster.pid'), 'utf8').catch(() => '0'), 10)
  }

  #control(...args: string[]) {
    return runBinary(this.#binaries, 'pg_ctl', [...args, '-s', '-D', 'data'], {
      account: this.#account,
      cwd: this.#home,
    })
  }
}
