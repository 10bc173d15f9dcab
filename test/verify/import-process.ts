import { readFile } from 'node:fs/promises'
import { inject } from 'vitest'
import { commandEntry, run, until } from '../process/service.ts'
import { query } from '../support/databases.ts'

/** Preloaded: the last line of the output is the process' own CPU time in µs, and its peak memory in kB. */
const METER = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>{
const{userCPUTime,systemCPUTime,maxRSS}=process.resourceUsage();writeSync(1,JSON.stringify([userCPUTime+systemCPUTime,maxRSS]))})`

/** An import of files, with what it costs: seconds, seconds of its CPU and of PostgreSQL's, MB. Throws when it fails. */
export async function runImport(directory: string, url: string) {
  const [start, before] = [performance.now(), await endedSeconds()]
  const { ended } = run(['--import', METER, commandEntry, 'import', directory], { DATABASE_URL: url })
  const { code, stdout, stderr } = await ended
  if (code !== 0) throw new Error(`The import failed.\n${stdout}${stderr}`)
  const seconds = (performance.now() - start) / 1000
  await alone(url)
  const [cpu, kb] = JSON.parse(stdout.slice(stdout.lastIndexOf('['))) as [number, number]
  return { output: stdout, seconds, cpu: cpu / 1e6, database: (await endedSeconds()) - before, megabytes: kb / 1024 }
}

/** CPU time of those of PostgreSQL's processes that have ended: /proc counts it, in ticks of 10 ms, for the first of them. */
async function endedSeconds(): Promise<number> {
  const [{ pid }] = await query(
    inject('databaseUrl'),
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
  )
  const readFields = async (process: string) =>
    (await readFile(`/proc/${process}/stat`, 'utf8')).split(') ')[1]!.split(' ')
  const [, parent] = await readFields(pid)
  const [user, system] = (await readFields(parent!)).slice(13)
  return (Number(user) + Number(system)) / 100
}

/** PostgreSQL finishes the statement that it has received; its processes then report what they wrote. */
export const alone = (url: string) =>
  until(
    () =>
      query(
        url,
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND backend_type = 'client backend'`,
      ),
    (rows) => rows.length === 0,
  )

/** Rows inserted, updated and deleted in the tables of a database that has no other clients. */
export async function rowsWritten(url: string): Promise<number> {
  await alone(url)
  const [{ written }] = await query(
    url,
    'SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) AS written FROM pg_stat_user_tables',
  )
  return Number(written)
}
