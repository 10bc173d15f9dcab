import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, homedir, loadavg, release, tmpdir, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { renderPage } from './page.ts'
import { parts } from './parts.ts'
import { cpuPressure, isQuiet } from './quiet.ts'
import type { VerifyRecord } from './record.ts'
import { toFileName, toRecord } from './record.ts'
import { renderTrend } from './trend.ts'
import { verify } from './verify.ts'

const usage = `npm run verify [-- PART …]       all parts, unless named:
${parts.map(({ name, minutes, proves }) => `  ${name.padEnd(12)} ${String(minutes).padStart(3)} min at most  ${proves}`).join('\n')}
SEED=… repeats what chance decided. The record goes to docs/records.`

const root = join(import.meta.dirname, '../..')
const records = join(root, 'docs/records')
const say = (line: string) => void process.stdout.write(`${line}\n`)
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const oneMinuteLoad = () => Math.round(loadavg()[0]! * 10) / 10

const names = process.argv.slice(2)
const unknown = names.filter((name) => !parts.some((part) => part.name === name))
if (unknown.length > 0) {
  say(usage)
  process.exit(names.includes('--help') ? 0 : 2)
}
process.chdir(root)

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

/** Ends early when the run is stopped. */
const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})

const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
const directory = mkdtempSync(join(tmpdir(), 'member-apps-verify-'))
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'member-apps-api')
mkdirSync(cache, { recursive: true })
const env = {
  TEST_DEBIAN13: join(cache, 'debian13'),
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin`,
  SEED: String(seed),
}
const commit = git('rev-parse', '--short', 'HEAD')
/** What a run of it writes. */
const written = ['docs/records', 'docs/performance.md', 'docs/images']
const isChanged = git('status', '--porcelain', '--', '.', ...written.map((path) => `:!${path}`)) !== ''
const at = new Date().toISOString()
const before = oneMinuteLoad()

say(`Seed ${seed}; logs in ${directory}`)
const wanted = parts.filter(({ name }) => names.length === 0 || names.includes(name))
const finished = await verify(wanted, {
  directory,
  env,
  signal: stopping.signal,
  isQuiet: () => isQuiet(cpuPressure, pause),
  say,
})

mkdirSync(records, { recursive: true })
const readRecords = () =>
  readdirSync(records)
    .filter((name) => name.endsWith('.json'))
    .map((name): VerifyRecord => JSON.parse(readFileSync(join(records, name), 'utf8')))
const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.versions.node,
}
const circumstances: Omit<VerifyRecord, 'parts'> = {
  commit,
  at,
  machine,
  load: [before, oneMinuteLoad()],
  ...(isChanged && { changed: true }),
}
const earlier = readRecords().find((record) => record.commit === commit && Boolean(record.changed) === isChanged)
const record = toRecord(circumstances, finished, earlier)
writeFileSync(join(records, toFileName(record)), `${JSON.stringify(record, undefined, 2)}\n`)
writeFileSync(join(records, 'README.md'), renderPage(readRecords()))
writeFileSync(join(root, 'docs/images/performance-trend.svg'), renderTrend(readRecords()))

const count = (outcome: string) => finished.filter((part) => part.outcome === outcome).length
const others = ['flaky', 'not judged', 'not run', 'stopped'].filter((outcome) => count(outcome) > 0)
say('')
if (others.length > 0) say(others.map((outcome) => `${count(outcome)} ${outcome}`).join(', '))
say(`${count('passed')} passed, ${count('failed')} failed`)
process.exitCode = stopping.signal.aborted ? 130 : count('failed') > 0 ? 1 : 0
