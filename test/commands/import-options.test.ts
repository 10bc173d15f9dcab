import { access, mkdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { clubs, importWorld, ndjson, person } from './import-world.ts'
import { failed, misused, run } from './run.ts'

describe('import --dry-run', () => {
  it('counts and names what an import would, and writes nothing', async () => {
    const { run, write, directory, ask, toPath } = await importWorld()
    await write({
      'organisations.ndjson': clubs,
      'people.ndjson': ndjson(person('anna'), person('ben', { email: 7 })),
      'memberships.csv': 'organisation,person\nriverside,anna\nriverside,ben\nriverside,cara\n',
    })
    const { code, stdout, stderr } = await run([directory, '--dry-run'])
    expect([code, stdout]).toEqual([
      1,
      `KIND           ADDED  CHANGED  UNCHANGED  ENDED  REFUSED
organisations  2      0        0          0      0
people         1      0        0          0      1
memberships    1      0        0          0      2
Nothing was written: this was a dry run.
`,
    ])
    expect(stderr).toMatch(/^people.ndjson:2: email: /m)
    expect(stderr).toMatch(/^memberships.csv:3: person: "ben" .*\nmemberships.csv:4: person: "cara" /m)
    expect(stderr).toMatch(/\nRefused rows stop people; .*\nRefused rows stop memberships; .*\n$/)

    const tolerant = await run([directory, '--dry-run', '--skip-refused', 'refused.json'])
    expect([tolerant.code, tolerant.stdout]).toEqual([0, stdout])
    await expect(access(toPath('refused.json'))).rejects.toThrow('ENOENT')
    expect(await ask('SELECT id FROM "Person" UNION SELECT id FROM "Organisation"')).toEqual([])
  })

  it('ends at a file that cannot be read', async () => {
    const { run, write, directory } = await importWorld()
    await write({ 'organisations.ndjson': clubs, 'people.csv': 'id,"', 'groups.csv': 'id\n' })
    const { code, stdout, stderr } = await run([directory, '--dry-run'])
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/\norganisations +2 .*\npeople +0 +0 +0 +0 +0\nNothing was/),
    ])
    expect(stderr).toMatch(/people.csv:1: .* a closing quote is missing.\nNot begun: groups.\n$/)
  })
})

describe('import --full', () => {
  const people = Array.from({ length: 40 }, (_, i) => `person-${i}`)
  const makeMemberships = (ids: readonly string[]) =>
    ndjson(...ids.map((id) => ({ organisation: 'riverside', person: id })))
  const ended = 'SELECT "personId" FROM "Membership" WHERE "leftAt" <= now() ORDER BY 1'

  async function filled() {
    const world = await importWorld()
    await world.write({
      'organisations.ndjson': clubs,
      'people.ndjson': ndjson(...people.map((id) => person(id))),
      'memberships.ndjson': makeMemberships(people),
    })
    expect((await world.run([world.directory])).code).toBe(0)
    return world
  }

  it('ends what the files do not have, up to 5 % of a kind', async () => {
    const { run, write, column } = await filled()
    await write({
      'memberships-a.ndjson': `${makeMemberships(people.slice(2, 20))}{"rows":18}\n`,
      'memberships-b.csv': `organisation,person\n${people
        .slice(20)
        .map((id) => `riverside,${id}\n`)
        .join('')}# 20 rows\n`,
    })
    const { code, stdout } = await run(['memberships-a.ndjson', 'memberships-b.csv', '--full'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nmemberships +0 +0 +38 +2 +0\n$/)])
    expect(await column(ended)).toEqual(['person-0', 'person-1'])
    expect(await column('SELECT count(*)::int FROM "Person"')).toEqual([40])
  })

  it('refuses to end more without --yes, also in a dry run', async () => {
    const { run, write, column } = await filled()
    await write({ 'memberships.ndjson': makeMemberships(people.slice(3)) })
    const message = '--full would end 3 of 40 memberships, more than 5 %: which requires --yes.'
    const refused = await run(['memberships.ndjson', '--full', '--rows', '37'])
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/\nmemberships +0 +0 +0 +0 +0\n$/)])
    expect(refused.stderr).toContain(`\n${message} No memberships were written.\n`)
    const tried = await run(['memberships.ndjson', '--full', '--rows', '37', '--dry-run'])
    expect([tried.code, tried.stdout]).toEqual([1, expect.stringMatching(/\nmemberships +0 +0 +37 +3 +0\nNothing was/)])
    expect(tried.stderr).toContain(`\n${message}\n`)
    expect(await column(ended)).toEqual([])

    const done = await run(['memberships.ndjson', '--full', '--rows', '37', '--yes'])
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/\nmemberships +0 +0 +37 +3 +0\n$/)])
    expect(await column(ended)).toEqual(['person-0', 'person-1', 'person-2'])
  })

  it('with --skip-refused ends nothing that a refused row is about', async () => {
    const { run, write, column } = await filled()
    const options = ['memberships.csv', '--full', '--rows', '40', '--yes', '--skip-refused', 'refused.json']
    const rows = people.slice(1).map((id) => `riverside,${id},\n`)
    await write({ 'memberships.csv': `organisation,person,leftAt\n${rows.join('')}riverside,person-0,soon\n` })
    expect((await run(options)).stdout).toMatch(/\nmemberships +0 +0 +39 +0 +1\n$/)
    await write({ 'memberships.csv': `organisation,person,leftAt\n${rows.join('')}riverside;person-0\n` })
    expect((await run(options)).stdout).toMatch(/\nmemberships +0 +0 +39 +0 +1\n$/)
    expect(await column(ended)).toEqual([])
  })

  it.each<[string, string[], string]>([
    [
      'memberships.ndjson',
      [],
      ':39: With --full the last line must state the number of rows: {"rows": N}. Or use --rows N.',
    ],
    ['memberships.csv', [], ':40: With --full the last line must state the number of rows: # N rows. Or use --rows N.'],
    ['memberships.ndjson', ['--rows', '40'], ':39: The rows end here: there are 39, and --rows is 40.'],
    [
      'memberships.csv',
      ['--rows', '38', '--skip-refused', 'refused.json'],
      ':40: The rows end here: there are 39, and --rows is 38.',
    ],
    [
      'counted/memberships.csv',
      ['--skip-refused', 'refused.json'],
      ':41: It states 40 rows, but there are 39 before it.',
    ],
    ['counted/memberships.csv', ['--dry-run'], ':41: It states 40 rows, but there are 39 before it.'],
  ])('ends nothing when %s may be cut off: %j', async (name, options, message) => {
    const { run, write, column, toPath } = await filled()
    const csv = `organisation,person\n${people
      .slice(1)
      .map((id) => `riverside,${id}\n`)
      .join('')}`
    await mkdir(toPath('counted'))
    await write({
      'memberships.ndjson': makeMemberships(people.slice(1)),
      'memberships.csv': csv,
      'counted/memberships.csv': `${csv}# 40 rows\n`,
    })
    const { code, stdout, stderr } = await run([name, '--full', '--yes', ...options])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/\nmemberships +0 +0 +0 +0 +0\n/)])
    expect(stderr).toContain(`${name}${message}`)
    expect(await column(ended)).toEqual([])
  })

  it('counts the rows of all files of the kind, refused ones as well, for --rows', async () => {
    const { run, write, column } = await filled()
    await write({
      'memberships-a.ndjson': makeMemberships(people.slice(1, 20)),
      'memberships-b.ndjson': `{}\n${makeMemberships(people.slice(20))}`,
    })
    const files = ['memberships-a.ndjson', 'memberships-b.ndjson', '--full', '--skip-refused', 'refused.json']
    const other = await run([...files, '--rows', '39'])
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining('memberships-b.ndjson:21: The rows end here: '),
    ])
    const { code, stdout } = await run([...files, '--rows', '40'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nmemberships +0 +0 +39 +0 +1\n$/)])
    expect(await column(ended)).toEqual([])
  })
})

describe('import --rows', () => {
  it('writes nothing when there are others, without --full too', async () => {
    const { run, write, column } = await importWorld()
    await write({ 'people.ndjson': ndjson(person('anna')), 'people-b.ndjson': '{"rows":0}\n' })
    const refused = await run(['people.ndjson', 'people-b.ndjson', '--rows', '2'])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        'people-b.ndjson:1: The rows end here: there are 1, and --rows is 2. No people were written.\n',
      ),
    ])
    expect(await column('SELECT id FROM "Person"')).toEqual([])
    expect((await run(['people.ndjson', 'people-b.ndjson', '--rows', '1'])).code).toBe(0)
    expect(await column('SELECT id FROM "Person"')).toEqual(['anna'])
  })

  it('exits 2 for files of several kinds, and reads none', async () => {
    const { run, write } = await importWorld()
    await write({ 'people.ndjson': ndjson(person('anna')), 'organisations.ndjson': clubs })
    expect(await run(['people.ndjson', 'organisations.ndjson', '--rows', '3'])).toEqual(
      misused(
        '--rows is for files of one kind; for several kinds, state the number of rows in the last line of each file.',
      ),
    )
  })
})

describe('wrong arguments of import', () => {
  const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }

  it.each<[string[], string]>([
    [[], 'Standard input has no name: --kind is required.'],
    [['-'], 'Standard input has no name: --kind is required.'],
    [['-', '-', '--kind', 'people'], 'Standard input can be read only once.'],
    [
      ['--kind', 'persons'],
      "Option '--kind <KIND>' argument 'persons' is invalid. Allowed choices are organisations, people, ",
    ],
    [
      ['--kind', 'toString'],
      "Option '--kind <KIND>' argument 'toString' is invalid. Allowed choices are organisations,",
    ],
    [['--kind', ''], "Option '--kind <KIND>' argument '' is invalid. It is empty."],
    [['', '--kind', 'people'], "Command-argument value '' is invalid for argument 'FILE'. It is empty."],
    [['--kind', 'people', '--yes'], '--yes requires --full.'],
    ...['-1', '1.5', '1e3', 'all', '9'.repeat(17)].map((rows): [string[], string] => [
      ['--kind', 'people', `--rows=${rows}`],
      '--rows must be a whole number, 0 or more.',
    ]),
    [['--everything'], "Unknown option '--everything'"],
    [['--skip-refused', '--full'], "Option '--skip-refused <FILE>' argument '--full' is invalid."],
  ])('exit 2 before it looks for a database when they are %j', async (args, message) => {
    expect(await run(['import', ...args], nowhere)).toEqual(misused(message))
  })

  it('exit 2 on a terminal without files', async () => {
    expect(await run(['import', '--kind', 'people'], nowhere, { typed: '' })).toEqual(
      misused('Files, a directory, or standard input are required.'),
    )
  })

  it('exit 2 when a name says no kind', async () => {
    const { write, toPath, directory } = await importWorld()
    await mkdir(toPath('empty'))
    expect(await run(['import', toPath('empty')], nowhere)).toEqual(
      misused(`${toPath('empty')} has no file whose name ends in .ndjson or .csv.`),
    )
    await write({ 'people.ndjson': '', 'persons.ndjson': '' })
    const message = `${toPath('persons.ndjson')}: a file's name must begin with its kind, or --kind must give it: organisations, people, `
    expect(await run(['import', toPath('persons.ndjson')], nowhere)).toEqual(misused(message))
    expect(await run(['import', directory], nowhere)).toEqual(misused(message))
  })

  it('exit 1 when a file cannot be found, read or written', async () => {
    const { env, write, toPath } = await importWorld()
    expect(await run(['import', '/nowhere/people.csv'], nowhere)).toEqual(
      failed('/nowhere/people.csv: there is no such file.\n'),
    )
    await write({ 'people.ndjson': ndjson(person('anna')) })
    const rejected = ['--skip-refused', '/nowhere/refused.json']
    expect(await run(['import', toPath('people.ndjson'), ...rejected], env)).toEqual(
      failed(expect.stringMatching(/^ENOENT: .*refused.json/)),
    )
  })
})
