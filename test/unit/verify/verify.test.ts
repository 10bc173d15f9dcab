import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Part } from '../../verify/parts.ts'
import { verify } from '../../verify/verify.ts'

const part = (name: string, ...commands: string[]): Part => ({
  name,
  proves: '',
  kind: 'plain',
  minutes: 1,
  needs: [],
  commands,
})

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'member-apps-verify-'))
  return () => rmSync(directory, { recursive: true })
})

const { PATH } = process.env
async function run(parts: Part[], { signal = new AbortController().signal, env = {}, graceMs = 100 } = {}) {
  const lines: string[] = []
  const isQuiet = async () => true
  const finished = await verify(parts, {
    directory,
    env: { PATH, SEED: '7', ...env },
    signal,
    isQuiet,
    graceMs,
    say: (line) => lines.push(line),
  })
  return { finished, lines, outcomes: finished.map(({ name, outcome }) => [name, outcome]) }
}

const logOf = (name: string) => readFileSync(join(directory, `${name}.log`), 'utf8')

it('verify goes on after a failure, and keeps the output of each part', async () => {
  const { outcomes, lines } = await run([part('first', 'echo begins', 'false', 'echo goes on'), part('second', 'true')])
  expect(outcomes).toEqual([
    ['first', 'failed'],
    ['second', 'passed'],
  ])
  expect(logOf('first')).toBe('\n$ echo begins\nbegins\n\n$ false\n\n$ echo goes on\ngoes on\n')
  expect(lines.map((line) => line.replace(/\d:\d\d/, 'm:ss'))).toEqual([
    `first     m:ss  failed (a command failed)  ${join(directory, 'first.log')}`,
    `second    m:ss  passed  ${join(directory, 'second.log')}`,
  ])
})

it('verify names the tests that failed', async () => {
  const assertionResults = [
    { fullName: 'storage keeps values', status: 'failed' },
    { fullName: 'storage lists', status: 'passed' },
  ]
  const report = JSON.stringify({ testResults: [{ assertionResults }] })
  const { finished } = await run([part('tests', `echo '${report}' >"$REPORT"; exit 1`)])
  expect(finished).toMatchObject([{ outcome: 'failed', why: '1 failed: storage keeps values' }])
})

it('verify collects the figures of a part', async () => {
  const figure = { name: 'get', value: 1.2, unit: '×', bound: 1.5 }
  const { finished } = await run([part('figures', `echo '${JSON.stringify(figure)}' >>"$FIGURES"`)])
  expect(finished[0]!.figures).toEqual([figure])
})

it('verify repeats what chance failed, with the same seed and a log of its own', async () => {
  const chance: Part = {
    ...part('kills', 'echo "seed $SEED"', `mkdir ${join(directory, 'once')} && false`),
    kind: 'chance',
  }
  const always = await run([chance])
  expect(always.finished).toMatchObject([{ outcome: 'failed', runs: 2, seed: 7 }])
  expect([logOf('kills'), logOf('kills-2')]).toEqual([
    expect.stringContaining('seed 7\n'),
    expect.stringContaining('seed 7\n'),
  ])
  const once = await run([{ ...chance, commands: [`mkdir ${join(directory, 'twice')} || exit 0; false`] }])
  expect(once.finished).toMatchObject([{ outcome: 'flaky', runs: 2 }])
})

it('verify ends a part over its limit, with all that it has started, and goes on', async () => {
  // Found by it, whether they had begun in time or not.
  const marked = `sleep 1000.${process.pid}${Date.now()}`
  const slow = part('slow', `trap '' INT; ${marked} & ${marked}`, 'echo never')
  const { finished } = await run([{ ...slow, minutes: 0.01 }, part('next', 'true')])
  expect(finished).toMatchObject([{ outcome: 'failed', why: 'over 0.01 min' }, { outcome: 'passed' }])
  expect(logOf('slow')).not.toContain('\nnever\n')
  await expect.poll(() => spawnSync('pgrep', ['-f', marked], { encoding: 'utf8' }).stdout).toBe('')
})

it('verify lets the part that runs clean up at a signal, and begins no other', async () => {
  const stopping = new AbortController()
  const fifo = join(directory, 'fifo')
  expect(spawnSync('mkfifo', [fifo]).status).toBe(0)
  const running = run(
    [
      part(
        'first',
        `trap 'echo cleans up; kill $! 2>/dev/null; exit 1' INT; sleep 1000 & echo >${fifo}; wait`,
        'echo never',
      ),
      part('second', 'true'),
    ],
    { signal: stopping.signal, graceMs: 60_000 },
  )
  // Until it runs.
  expect(await readFile(fifo, 'utf8')).toBe('\n')
  stopping.abort()
  expect((await running).outcomes).toEqual([['first', 'stopped']])
  expect(logOf('first')).toMatch(/\ncleans up\n$/)
})

it('verify does not run what it cannot: for want of a setting, a program, or a download', async () => {
  const needing = (name: string, ...needs: string[]) => ({ ...part(name, 'true'), needs })
  const { finished, lines } = await run(
    [
      needing('citus', 'CITUS_URL'),
      needing('set', 'CITUS'),
      needing('there', 'bash'),
      part('fetched', 'echo "could not fetch: deno@1" >&2; exit 75'),
      part('both', 'false', 'exit 75'),
    ],
    { env: { CITUS: '' } },
  )
  expect(finished.map(({ outcome, why }) => [outcome, why])).toEqual([
    ['not run', 'CITUS_URL is not set'],
    ['not run', 'CITUS is not set'],
    ['passed', undefined],
    ['not run', 'could not fetch: deno@1'],
    ['failed', 'a command failed'],
  ])
  expect(lines[0]).toMatch(/^citus {6}\d:\d\d {2}not run \(CITUS_URL is not set\)$/)
})
