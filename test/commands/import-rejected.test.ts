import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { link, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { importWorld, ndjson, person } from './import-world.ts'
import { failed, misused, run } from './run.ts'

const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }
const faulty = ndjson(person('anna'), person('ben', { email: 7 }))
const rejectedIds = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).record.id)

describe('the file of --skip-refused', () => {
  it.each([
    ['an input', (path: string) => [path, path]],
    ['an input by another name', (path: string) => [path, `${path}.link`]],
    ['a link to an input', (path: string) => [path, `${path}.symlink`]],
    ['in a directory of inputs', (path: string) => [path.slice(0, path.lastIndexOf('/')), path]],
    ['an input of a dry run', (path: string) => ['--dry-run', path, path]],
  ] as const)('is refused and stays when it is %s', async (_, toPaths) => {
    const { write, toPath } = await importWorld()
    const path = toPath('people.ndjson')
    await write({ 'people.ndjson': faulty })
    await link(path, `${path}.link`)
    await symlink(path, `${path}.symlink`)
    const words = toPaths(path)
    const rejected = words.at(-1)!
    expect(await run(['import', ...words.slice(0, -1), '--skip-refused', rejected], nowhere)).toEqual(
      misused(`--skip-refused would replace ${rejected}, which this import reads.`),
    )
    expect(await readFile(path, 'utf8')).toBe(faulty)
  })

  it('stays when the database cannot be reached or nothing is written', async () => {
    const { env, write, toPath, directory } = await importWorld()
    await write({ 'people.ndjson': faulty, 'refused.json': 'of yesterday' })
    const args = ['import', toPath('people.ndjson'), '--skip-refused', toPath('refused.json')]
    expect(await run(args, nowhere)).toMatchObject({ code: 1 })
    expect(await run([...args, '--rows', '3'], env)).toMatchObject({ code: 1 })
    expect(await readFile(toPath('refused.json'), 'utf8')).toBe('of yesterday')
    expect(await readdir(directory)).toHaveLength(2)
  })

  it('is replaced once a kind is written, also by nothing, and keeps its mode', async () => {
    const { write, run, toPath, directory } = await importWorld()
    await write({ 'people.ndjson': faulty })
    await writeFile(toPath('refused.json'), 'of yesterday', { mode: 0o640 })
    await symlink(toPath('refused.json'), toPath('latest.json'))
    const args = ['people.ndjson', '--skip-refused', 'latest.json']
    expect(await run(args)).toMatchObject({ code: 0 })
    expect(rejectedIds(await readFile(toPath('refused.json'), 'utf8'))).toEqual(['ben'])
    expect((await stat(toPath('refused.json'))).mode & 0o777).toBe(0o640)
    await write({ 'people.ndjson': ndjson(person('anna'), person('ben')) })
    expect(await run(args)).toMatchObject({ code: 0 })
    expect(await readFile(toPath('refused.json'), 'utf8')).toBe('')
    expect(await readdir(directory)).toHaveLength(3)
  })

  it('can be what the piped input is made of', async () => {
    const { write, run, toPath, column } = await importWorld()
    await write({ 'people.ndjson': faulty })
    expect(await run(['people.ndjson', '--skip-refused', 'refused.json'])).toMatchObject({ code: 0 })
    // Read only after the command has opened its files, as by a slow jq.
    async function* retried() {
      await new Promise(setImmediate)
      const [line] = readFileSync(toPath('refused.json'), 'utf8').trim().split('\n')
      yield ndjson(JSON.parse(line!).record, person('cara'))
    }
    const retry = ['--kind', 'people', '--skip-refused', 'refused.json']
    expect(await run(retry, { piped: retried })).toMatchObject({ code: 0 })
    expect(rejectedIds(await readFile(toPath('refused.json'), 'utf8'))).toEqual(['ben'])
    expect(await column('SELECT id FROM "Person" ORDER BY id')).toEqual(['anna', 'cara'])
  })

  it('needs no temporary directory but for piped input', async () => {
    const { write, run, toPath } = await importWorld()
    vi.stubEnv('TMPDIR', toPath('none'))
    onTestFinished(() => void vi.unstubAllEnvs())
    await write({ 'people.ndjson': faulty })
    expect(await run(['people.ndjson', '--skip-refused', 'refused.json'])).toMatchObject({ code: 0 })
    expect(await run(['--kind', 'people', '--skip-refused', 'refused.json'], { piped: faulty })).toEqual(
      failed(
        expect.stringMatching(/^Input of a pipe is copied, which failed: .* Set TMPDIR to a writable directory.\n$/),
      ),
    )
  })

  describe('beside which no file can be created, as its name is too long for that,', () => {
    const long = `${'refused-'.repeat(28)}.json`

    it('is replaced by a temporary file, and keeps its mode', async () => {
      const { write, run, toPath, directory } = await importWorld()
      const temporary = await importWorld()
      vi.stubEnv('TMPDIR', temporary.directory)
      onTestFinished(() => void vi.unstubAllEnvs())
      await write({ 'people.ndjson': faulty })
      await writeFile(toPath(long), 'of yesterday, which is longer than the line of one row. '.repeat(100), {
        mode: 0o640,
      })
      expect(await run(['people.ndjson', '--skip-refused', long])).toMatchObject({ code: 0 })
      expect(rejectedIds(await readFile(toPath(long), 'utf8'))).toEqual(['ben'])
      expect((await stat(toPath(long))).mode & 0o777).toBe(0o640)
      expect([await readdir(directory), await readdir(temporary.directory)]).toEqual([['people.ndjson', long], []])
    })

    it('is created, for its owner alone', async () => {
      const { write, run, toPath } = await importWorld()
      await write({ 'people.ndjson': faulty })
      expect(await run(['people.ndjson', '--skip-refused', long])).toMatchObject({ code: 0 })
      expect(rejectedIds(await readFile(toPath(long), 'utf8'))).toEqual(['ben'])
      expect((await stat(toPath(long))).mode & 0o777).toBe(0o600)
    })

    it('stays without a temporary directory', async () => {
      const { write, run, toPath, column } = await importWorld()
      vi.stubEnv('TMPDIR', toPath('none'))
      onTestFinished(() => void vi.unstubAllEnvs())
      await write({ 'people.ndjson': faulty, [long]: 'of yesterday' })
      expect(await run(['people.ndjson', '--skip-refused', long])).toEqual(
        failed(expect.stringMatching(/^No file can be created beside .* Set TMPDIR to a writable directory.\n$/)),
      )
      expect(await readFile(toPath(long), 'utf8')).toBe('of yesterday')
      expect(await column('SELECT id FROM "Person"')).toEqual([])
    })
  })

  it('may be a FIFO', async () => {
    const { write, run, toPath } = await importWorld()
    await write({ 'people.ndjson': faulty })
    execFileSync('mkfifo', [toPath('rows.fifo')])
    const [{ code }, text] = await Promise.all([
      run(['people.ndjson', '--skip-refused', 'rows.fifo']),
      readFile(toPath('rows.fifo'), 'utf8'),
    ])
    expect([code, rejectedIds(text)]).toEqual([0, ['ben']])
    expect((await stat(toPath('rows.fifo'))).isFIFO()).toBe(true)
  })
})
