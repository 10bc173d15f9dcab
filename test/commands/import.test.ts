import { readFile, stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { clubs, importWorld, ndjson, person } from './import-world.ts'

/** What a finished kind writes into a pipe. */
const read = (...lines: string[]) =>
  expect.stringMatching(new RegExp(`^${lines.map((line) => `${line} in \\d+\\.\\d s\n`).join('')}$`))

describe('import', () => {
  it('takes the files of a directory in the order of their kinds, and counts', async () => {
    const { run, write, directory, ask } = await importWorld()
    await write({
      'memberships.csv':
        'organisation,person,joinedAt\nriverside,anna,2020-05-01T00:00:00+02:00\nriverside,ben,86400\n',
      'organisations.ndjson': clubs,
      'people-2026.ndjson': ndjson(person('anna', { birthday: '1991-04-17' }), person('ben')),
      'notes.txt': 'not read',
    })
    expect(await run([directory])).toEqual({
      code: 0,
      stdout: `KIND           ADDED  CHANGED  UNCHANGED  ENDED  REFUSED
organisations  2      0        0          0      0
people         2      0        0          0      0
memberships    2      0        0          0      0
`,
      stderr: read('organisations: 2 rows', 'people: 2 rows', 'memberships: 2 rows'),
    })
    expect(await ask('SELECT "personId", "joinedAt", "leftAt" FROM "Membership" ORDER BY 1')).toEqual([
      { personId: 'anna', joinedAt: new Date('2020-04-30T22:00:00Z'), leftAt: null },
      { personId: 'ben', joinedAt: new Date(86_400_000), leftAt: null },
    ])
    expect(await ask('SELECT id, birthday::text FROM "Person" ORDER BY id')).toEqual([
      { id: 'anna', birthday: '1991-04-17' },
      { id: 'ben', birthday: null },
    ])
  })

  it('writes only what differs when it is repeated', async () => {
    const { run, write, ask } = await importWorld()
    const versions = () => ask('SELECT id, xmin, ctid FROM "Person" ORDER BY id')
    await write({ 'people.ndjson': ndjson(person('anna'), person('ben')) })
    await run(['people.ndjson'])
    const before = await versions()
    expect((await run(['people.ndjson'])).stdout).toMatch(/\npeople +0 +0 +2 +0 +0\n$/)
    expect(await versions()).toEqual(before)

    await write({ 'people.csv': 'id,lastName\nben,Huber\ncara,Huber\n', 'people.ndjson': ndjson(person('cara')) })
    expect((await run(['people.ndjson', 'people.csv'])).code).toBe(1)
    await write({ 'people.csv': 'id,lastName\nben,Huber\n' })
    expect((await run(['people.ndjson', 'people.csv'])).stdout).toMatch(/\npeople +1 +1 +0 +0 +0\n$/)
    expect((await versions())[0]).toEqual(before[0])
    expect(await ask('SELECT id, "firstName", "lastName" FROM "Person" ORDER BY id')).toEqual([
      { id: 'anna', firstName: 'anna', lastName: 'Berger' },
      { id: 'ben', firstName: 'ben', lastName: 'Huber' },
      { id: 'cara', firstName: 'cara', lastName: 'Berger' },
    ])
  })

  it('reads standard input with --kind, NDJSON or CSV', async () => {
    const { run, column } = await importWorld()
    expect((await run(['--kind', 'people'], { piped: ndjson(person('anna')) })).code).toBe(0)
    const piped = '\ufeffid,firstName,lastName,email\r\nben,Ben,"O""Hara, Jr.",ben@example.org\r\n'
    expect((await run(['-', '--kind', 'people'], { piped })).stdout).toMatch(/\npeople +1 +0 /)
    expect(await column('SELECT "lastName" FROM "Person" ORDER BY id')).toEqual(['Berger', 'O"Hara, Jr.'])
  })

  it('takes --kind for files of any name', async () => {
    const { run, write, column } = await importWorld()
    await write({ 'export.txt': ndjson(person('anna')), 'memberships.csv': 'id,firstName,lastName,email\nben,B,B,\n' })
    expect((await run(['export.txt', 'memberships.csv', '--kind', 'people'])).code).toBe(0)
    expect(await column('SELECT id FROM "Person" ORDER BY id')).toEqual(['anna', 'ben'])
  })

  it('shows its progress on a terminal in one line, and removes it', async () => {
    const { run, write } = await importWorld()
    const people = Array.from({ length: 5_000 }, (_, i) => person(`person-${i}`))
    await write({ 'people.ndjson': ndjson(...people) })
    const { code, stderr } = await run(['people.ndjson'], { watched: true })
    const lines = stderr.split('\u001b[K')
    expect([code, lines.slice(-2)]).toEqual([0, ['\r', '']])
    expect(lines[0]).toBe('\rpeople: 0 %, 0 rows')
    for (const line of lines.slice(0, -2)) expect(line).toMatch(/^\rpeople: (?:\d+ %, )?\d+ rows(?:, merging)?$/)
    expect(lines).toContain('\rpeople: 5000 rows, merging')

    await write({ 'people.csv': 'id\n' })
    const empty = await run(['people.csv'], { watched: true })
    expect([empty.code, empty.stderr]).toEqual([0, expect.stringMatching(/^\rpeople: 0 %, 0 rows/)])
  })
})

describe('null in NDJSON', () => {
  const text = (id: string, nulls: string) => `{"id":"${id}","firstName":"A"${nulls}}\n`

  it('stores what an empty cell stores', async () => {
    const { run, write, ask } = await importWorld()
    await write({
      'people-a.ndjson': text('anna', ',"lastName":null,"email":null,"birthday":null,"image":null,"version":null'),
      'people-b.csv': 'id,firstName,lastName,email,birthday,image,version\nben,A,,,,,\n',
    })
    expect(await run(['people-a.ndjson', 'people-b.csv'])).toMatchObject({ code: 0 })
    const [anna, ben] = await ask('SELECT * FROM "Person" ORDER BY id')
    expect(anna).toEqual({ ...ben, id: 'anna' })
    expect(anna).toMatchObject({ lastName: '', email: '', birthday: null, image: '' })
  })

  it('is missing where a field cannot be empty', async () => {
    const { run, write, column } = await importWorld()
    await write({ 'people.ndjson': text('anna', ',"lastName":"B","email":null').replace('"anna"', 'null') })
    const { code, stderr } = await run(['people.ndjson'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('people.ndjson:1: id: It is missing.')])
    expect(await column('SELECT id FROM "Person"')).toEqual([])
  })
})

describe('a file of a spreadsheet', () => {
  it('is taken as Excel writes it in German', async () => {
    const { run, write, directory, ask } = await importWorld()
    const memberships =
      'sep=;\r\norganisation;person;joinedAt;administrator;\r\nriverside;anna ;2019-03-01 00:00+01;WAHR;'
    await write({
      'organisations.CSV': 'id;kind;name\r\nriverside;club;Riverside\r\n',
      'people.tsv': Buffer.from('\ufeffid\tfirstName\tlastName\temail\r\nanna\tAnna \tBäcker\t\r\n', 'utf16le'),
      'memberships.csv': `${memberships}\r\n# 1 rows;;;;`,
    })
    expect(await run([directory])).toMatchObject({ code: 0 })
    expect(await ask('SELECT "firstName", "lastName" FROM "Person"')).toEqual([
      { firstName: 'Anna', lastName: 'Bäcker' },
    ])
    expect(await ask('SELECT "personId", "joinedAt", administrator FROM "Membership"')).toEqual([
      { personId: 'anna', joinedAt: new Date('2019-02-28T23:00:00Z'), administrator: true },
    ])
  })

  it('writes nothing where the spreadsheet has shortened a time', async () => {
    const { run, write, directory, column } = await importWorld()
    await write({ 'organisations.ndjson': clubs, 'people.ndjson': ndjson(person('anna')) })
    await run([directory])
    await write({ 'memberships.csv': 'organisation,person,joinedAt\nriverside,anna,1.60946E+09\n' })
    const { code, stderr } = await run(['memberships.csv'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        'memberships.csv:2: joinedAt: "1.60946E+09" is a number that a spreadsheet has shortened',
      ),
    ])
    expect(await column('SELECT "personId" FROM "Membership"')).toEqual([])
  })

  it('warns of ids that look shortened, up to a hundred of a kind, and takes them', async () => {
    const { run, write, column } = await importWorld()
    const ids = Array.from({ length: 102 }, (_, i) => `4.9${String(i).padStart(3, '0')}E+14`)
    await write({ 'people.csv': `id,firstName,lastName,email\n${ids.map((id) => `${id},A,B,\n`).join('')}` })
    const { code, stderr } = await run(['people.csv'])
    const warnings = stderr.split('\n').filter((line) => line.startsWith('Warning: people.csv:'))
    expect([code, warnings.length, warnings[0]]).toEqual([
      ...[0, 100],
      'Warning: people.csv:2: id: "4.9000E+14" is taken as it is, and looks like a number that a spreadsheet has shortened.',
    ])
    expect(stderr).toContain('\nWarning: and 2 rows more\n')
    expect(await column('SELECT count(*)::int FROM "Person"')).toEqual([102])
  })
})

describe('a refused row', () => {
  const files = {
    'organisations.ndjson': clubs,
    'people.ndjson': `${ndjson(person('anna'), person('ben', { email: 7 }))}{"id":\n\n${ndjson(person('', {}))}{"id":1,"id":2}\n`,
    'memberships.csv': 'organisation,person\nriverside,anna\n',
  }
  const refusals = `people.ndjson:2: email: 7 is not a text of at most 65536 bytes, without NUL.
people.ndjson:3: It is not JSON: Unexpected end of JSON input.
people.ndjson:5: id: "" is not an id: 1 to 255 visible characters, with spaces only between them.
people.ndjson:6: id: It occurs twice in one object.
`

  it('is named, stops its kind and those after it, and leaves those before it', async () => {
    const { run, write, directory, column } = await importWorld()
    await write(files)
    const { code, stdout, stderr } = await run([directory])
    expect([code, stdout]).toEqual([
      1,
      `KIND           ADDED  CHANGED  UNCHANGED  ENDED  REFUSED
organisations  2      0        0          0      0
people         0      0        0          0      4
`,
    ])
    expect(
      stderr,
    ).toContain(`${refusals}Refused rows stop people; --skip-refused FILE writes them to FILE and continues. \
No people were written.\nNot begun: memberships.\n`)
    expect(await column('SELECT id FROM "Person"')).toEqual([])
    expect(await column('SELECT id FROM "Organisation" ORDER BY 1')).toEqual(['northgate', 'riverside'])
  })

  it('goes to the file of --skip-refused, and the others are taken', async () => {
    const { run, write, directory, column, toPath } = await importWorld()
    await write(files)
    const { code, stdout, stderr } = await run([directory, '--skip-refused', 'refused.json'])
    expect([code, stderr]).toEqual([0, expect.stringContaining(refusals)])
    expect(stdout).toMatch(/\npeople +1 +0 +0 +0 +4\nmemberships +1 /)
    expect(await column('SELECT "personId" FROM "Membership"')).toEqual(['anna'])
    expect((await stat(toPath('refused.json'))).mode & 0o777).toBe(0o600)
    const rejected = (await readFile(toPath('refused.json'), 'utf8')).trim().split('\n')
    const first = { file: toPath('people.ndjson'), kind: 'people' }
    expect(rejected.map((line) => JSON.parse(line))).toEqual([
      { ...first, line: 2, field: 'email', reason: expect.any(String), record: person('ben', { email: 7 }) },
      { ...first, line: 3, field: '', reason: expect.any(String), record: '{"id":' },
      { ...first, line: 5, field: 'id', reason: expect.any(String), record: person('') },
      { ...first, line: 6, field: 'id', reason: expect.any(String), record: '{"id":1,"id":2}' },
    ])
  })

  it('goes to that file from standard input as well', async () => {
    const { run, toPath, column } = await importWorld()
    const piped = 'id,firstName,lastName,email\nanna,Anna,Berger,\nben,Ben\n,Cara,Berger,\n'
    const { code, stderr } = await run(['--kind', 'people', '--skip-refused', 'refused.json'], { piped })
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('stdin:3: It has 2 cells, and the header 4.\nstdin:4: id: '),
    ])
    expect(
      (await readFile(toPath('refused.json'), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ file: 'stdin', line: 3, record: ['ben', 'Ben'] }),
      expect.objectContaining({ file: 'stdin', line: 4, field: 'id' }),
    ])
    expect(await column('SELECT id FROM "Person"')).toEqual(['anna'])
  })

  it('is one of the first hundred that are named; the others are counted', async () => {
    const { run, write } = await importWorld()
    const rows = Array.from({ length: 2_500 }, (_, i) => (i === 0 ? person('anna') : person('anna', { email: i })))
    await write({ 'people.ndjson': ndjson(...rows) })
    const { code, stdout, stderr } = await run(['people.ndjson'])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/\npeople +0 +0 +0 +0 +2499\n/)])
    const named = [...stderr.matchAll(/^people.ndjson:(\d+): /gm)].map(([, line]) => Number(line))
    expect(named).toEqual(Array.from({ length: 100 }, (_, i) => i + 2))
    expect(stderr).toContain('\nand 2399 rows more\n')
  })

  it('is named by its own file, and stops all files of its kind', async () => {
    const { run, write, column } = await importWorld()
    await write({
      'people-a.ndjson': ndjson(person('anna')),
      'people-b.csv': 'id,firstName,lastName,email\n\nben,Ben,"two\nlines",\ncara,Cara,Berger\nanna,Anna,Berger,\n',
    })
    const { code, stderr } = await run(['people-a.ndjson', 'people-b.csv'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^people-b.csv:5: It has 3 cells.*\npeople-b.csv:6: id: "anna" /m),
    ])
    expect(stderr).toContain('first at people-a.ndjson:1')
    expect(await column('SELECT id FROM "Person"')).toEqual([])
  })

  it('is printed without control characters', async () => {
    const { run, write } = await importWorld()
    await write({ 'people.ndjson': ndjson(person('anna', { email: ['\u001b[2J\u009b1m\u007f'] }), { '\u0007': 1 }) })
    const { stderr } = await run(['people.ndjson'])
    expect(stderr).toContain('people.ndjson:1: email: ')
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })
})

describe('a file that cannot be read to its end', () => {
  // test/unit/import-rows.test.ts has each fault.
  it.each<[string, string | Buffer, string]>([
    [
      'people.csv',
      'id,firstName,lastName,email\nanna,Anna,Berger,\nben,Ben,Ok,b@exam',
      'people.csv:3: email: The file',
    ],
    ['people.ndjson', Buffer.from(ndjson(person('anna'), person('ü')), 'latin1'), 'people.ndjson:2: It is not UTF-8'],
  ])('stops its kind: %s', async (name, content, message) => {
    const { run, write, column } = await importWorld()
    await write({ [name]: content })
    const { code, stderr } = await run([name, '--skip-refused', 'refused.json'])
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    expect(stderr).toMatch(/ No \w+ were written\.\n$/)
    expect(await column('SELECT id FROM "Person"')).toEqual([])
  })
})
