import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { judge } from '../../verify/judge.ts'
import type { Kind, Part } from '../../verify/parts.ts'
import { parts } from '../../verify/parts.ts'
import { isQuiet } from '../../verify/quiet.ts'
import type { Ran } from '../../verify/run-commands.ts'
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
beforeEach(async () => {
  directory = await temporaryDirectory()
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

const readLog = (name: string) => readFileSync(join(directory, `${name}.log`), 'utf8')

it('verify goes on after a failure, and keeps the output of each part', async () => {
  const { outcomes, lines } = await run([part('first', 'echo begins', 'false', 'echo goes on'), part('second', 'true')])
  expect(outcomes).toEqual([
    ['first', 'failed'],
    ['second', 'passed'],
  ])
  expect(readLog('first')).toBe('\n$ echo begins\nbegins\n\n$ false\n\n$ echo goes on\ngoes on\n')
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
  expect([readLog('kills'), readLog('kills-2')]).toEqual([
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
  expect(readLog('slow')).not.toContain('\nnever\n')
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
  expect(readLog('first')).toMatch(/\ncleans up\n$/)
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

const makeFigure = (value: number) => ({ name: 'get', value, unit: '×' })
const green: Ran = { end: 'green', figures: [makeFigure(1)] }
const red: Ran = { end: 'red', why: 'get', figures: [makeFigure(2)] }
const [QUIET, BUSY] = [true, false]

/** Each run ends as the next of `ends`, and the machine is as the next of `quiet`: before a run, and after it. */
async function judged(kind: Kind, ends: Ran[], quiet: boolean[] = []) {
  const left = { ends: [...ends], quiet: [...quiet] }
  const next = async <Item>(items: Item[]): Promise<Item> => {
    expect(items).not.toEqual([])
    return items.shift()!
  }
  const judged = await judge(
    kind,
    () => next(left.ends),
    () => next(left.quiet),
  )
  // All of them were asked for, and no more.
  expect(left).toEqual({ ends: [], quiet: [] })
  return judged
}

it('a part without chance runs once, whatever the machine does', async () => {
  expect(await judged('plain', [green])).toMatchObject({ outcome: 'passed', runs: 1 })
  expect(await judged('plain', [red])).toMatchObject({ outcome: 'failed', why: 'get', runs: 1 })
})

it('chance that was red is tried again: red twice is a fault, red once is flaky', async () => {
  expect(await judged('chance', [green])).toMatchObject({ outcome: 'passed', runs: 1 })
  expect(await judged('chance', [red, red])).toMatchObject({ outcome: 'failed', runs: 2 })
  expect(await judged('chance', [red, green])).toMatchObject({ outcome: 'flaky', why: 'get', runs: 2 })
})

it('figures are judged by the first run with a quiet machine before and after it', async () => {
  expect(await judged('figures', [green], [QUIET, QUIET])).toMatchObject({ outcome: 'passed', runs: 1 })
  const secondTime = await judged('figures', [red, green], [QUIET, BUSY, QUIET, QUIET])
  expect(secondTime).toEqual({ outcome: 'passed', runs: 2, figures: green.figures })
  const thirdTime = await judged('figures', [red, green], [BUSY, BUSY, QUIET, QUIET])
  expect(thirdTime).toMatchObject({ outcome: 'passed', runs: 2 })
})

it('figures that are red are a fault when a second quiet run confirms it, or none refutes it', async () => {
  expect(await judged('figures', [red, red], [QUIET, QUIET, QUIET, QUIET])).toMatchObject({
    outcome: 'failed',
    runs: 2,
  })
  expect(await judged('figures', [red, green], [QUIET, QUIET, QUIET, QUIET])).toMatchObject({ outcome: 'flaky' })
  const unconfirmed = await judged('figures', [red, green], [QUIET, QUIET, QUIET, BUSY, BUSY])
  expect(unconfirmed).toEqual({ outcome: 'failed', why: 'get', runs: 2, figures: red.figures })
})

it('figures are not judged when the machine is not quiet in three turns, of which a busy beginning takes only the first', async () => {
  const why = 'the machine was not quiet'
  const measured = await judged('figures', [red, red, green], [QUIET, BUSY, QUIET, BUSY, QUIET, BUSY])
  expect(measured).toEqual({ outcome: 'not judged', why, runs: 3, figures: green.figures })
  expect(await judged('figures', [red], [BUSY, BUSY, BUSY])).toEqual({
    outcome: 'not judged',
    why,
    runs: 1,
    figures: red.figures,
  })
})

it.each([
  ['late', 'failed'],
  ['stopped', 'stopped'],
  ['unfetched', 'not run'],
] as const)('a run that is %s is not repeated: %s', async (end, outcome) => {
  expect(await judged('chance', [{ end, why: 'so', figures: [] }])).toMatchObject({ outcome, why: 'so', runs: 1 })
  expect(await judged('figures', [{ end, figures: [] }], [QUIET])).toMatchObject({ outcome, runs: 1 })
})

/** With these pressures, one each time it is asked: whether it is quiet, and for how many seconds it waited. */
async function waited(pressures: (number | undefined)[]) {
  const left = [...pressures]
  let ms = 0
  const quiet = await isQuiet(
    async () => left.shift(),
    async (pause) => {
      ms += pause
    },
  )
  return [quiet, ms / 1_000]
}

it('a machine is quiet below 5 % of CPU pressure', async () => {
  expect(await waited([4.99])).toEqual([true, 0])
})

it('a machine has a minute to become quiet', async () => {
  expect(await waited([40, 5, 4.9])).toEqual([true, 10])
  expect(await waited(Array(13).fill(5))).toEqual([false, 60])
})

it('a machine whose kernel tells no pressure is not quiet', async () => {
  expect(await waited([undefined])).toEqual([false, 0])
})

const root = fileURLToPath(new URL('../../../', import.meta.url))

it('each folder of test/verify is run by one part, which has its name', () => {
  const folders = readdirSync(`${root}test/verify`, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const run = parts.flatMap(({ name, commands }) =>
    commands.flatMap((command) =>
      [...command.matchAll(/ test\/verify\/(\w+)\/ /g)].map(([, folder]) => [name, folder]),
    ),
  )
  expect(run.toSorted()).toEqual(folders.map(({ name }) => [name, name]).toSorted())
})

it('test/verify/README.md has a row for each part, with what it proves', () => {
  const page = readFileSync(`${root}test/verify/README.md`, 'utf8')
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\w+) \| (\d+) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  expect(rows).toEqual(parts.map(({ name, kind, minutes, proves }) => [name, kind, String(minutes), proves]))
})

it('.ci/deno leaves out files that there are', () => {
  const [, pattern] = /^others='(.+)'$/m.exec(readFileSync(`${root}.ci/deno`, 'utf8'))!
  const files = readdirSync(`${root}test`, { recursive: true }).map((name) => `test/${name}`)
  expect(pattern!.split('|').filter((path) => !files.some((file) => new RegExp(path).test(file)))).toEqual([])
})
