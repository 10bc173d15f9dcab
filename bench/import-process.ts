import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** Preloaded: the process reports its own CPU time in microseconds and its peak memory in kB when it exits. */
const METER = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>{
const{userCPUTime,systemCPUTime,maxRSS}=process.resourceUsage();writeSync(3,JSON.stringify({cpu:userCPUTime+systemCPUTime,maxRSS}))})`

const MAIN = fileURLToPath(new URL('../dist/server/commands/main.js', import.meta.url))

export async function runImport(directory: string, url: string, prof?: string) {
  const flags = prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`] : []
  const args = [...flags, '--import', METER, MAIN, 'import', directory]
  const start = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const texts = ['', '', '']
  for (const [i, stream] of child.stdio.slice(1).entries()) {
    stream!.on('data', (chunk: Buffer) => {
      texts[i] += chunk.toString()
    })
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const seconds = (performance.now() - start) / 1000
  const [output, lines, usage] = texts as [string, string, string]
  if (code !== 0) throw new Error(`The import failed.\n${output}${lines}`)
  return { seconds, output: lines + output, ...(JSON.parse(usage) as { cpu: number; maxRSS: number }) }
}

/** Rows inserted, updated and deleted in the tables of the database, once its other clients are gone: they then report. */
export async function rowsWritten(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    while ((await client.query(OTHERS)).rows.length > 0) await pause(20)
    const { rows } = await client.query<{ written: string }>(
      'SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) AS written FROM pg_stat_user_tables',
    )
    return Number(rows[0]!.written)
  } finally {
    await client.end()
  }
}

const OTHERS = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
