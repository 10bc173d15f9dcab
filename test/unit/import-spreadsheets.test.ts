import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { listFields, recordTypeNames, recordTypes } from '../../routers/directory/record-types.ts'
import { readRows } from '../../server/commands/import/read-rows.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { fault, readFault, rows } from './import-reading.ts'

/** The one cell of a file with one row. */
const cell = async (field: string, written: string) => {
  const [row] = await rows(`id,${field}\na,"${written.replaceAll('"', '""')}"\n`)
  const [line, record, ...more] = row!
  return line === 2 && typeof record === 'object'
    ? [(record as Record<string, unknown>)[field], ...more]
    : row!.slice(1, 3)
}

/** The field, what its cell has, and the value. */
type Case = [string, string, unknown]

describe('a cell', () => {
  it.each<Case>([
    ...['TRUE', 'true', 'True', 'WAHR', 'wahr', ' TRUE '].map((written): Case => ['visible', written, true]),
    ...['FALSE', 'False', 'FALSCH', 'FALSE\u00a0'].map((written): Case => ['visible', written, false]),
    ...['VRAI', '1', 'yes', 'ja', 'constructor'].map((written): Case => ['visible', written, written]),
    ...['12.5', ' 12.5', '12,5', '12.50', '012.5'].map((written): Case => ['score', written, 12.5]),
    ...['-0,125', '-0.125'].map((written): Case => ['score', written, -0.125]),
    ['score', '1234,125', 1234.125],
    ['score', '12 Punkte', '12 Punkte'],
    ['name', 'Anna ', 'Anna'],
    ['name', '\u00a0Anna\u00a0Maria\u202f', 'Anna\u00a0Maria'],
    ['name', ' ', ''],
    ['place', ' ', null],
    ['departments', 'Judo;', ['Judo']],
    ['departments', ';; Judo ;;Sumo; ', ['Judo', 'Sumo']],
    ['departments', ';', []],
    ['departments', ' ["Judo; Sumo", ""]', ['Judo; Sumo', '']],
    ['start', ' 1700000000.5 ', 1_700_000_000.5],
    ['start', '86400', 86_400],
    ['name', '#1', '#1'],
  ])('of %s, %j, is %j', async (field, written, value) => {
    expect(await cell(field, written)).toEqual([value])
  })

  it.each([
    ...['1.60946E+09', '1,60946E+09', '1e9', '-2E-05'].flatMap((written) =>
      ['score', 'start', 'place'].map(
        (field) => [field, written, /is a number that a spreadsheet has shortened/] as const,
      ),
    ),
    ...['1,234', '1.234,5', '1,234,567', '1 234', '1\u00a0234,5', "1'234"].map(
      (written) => ['score', written, /is not of the form 1234\.5: a point before decimals, nothing/] as const,
    ),
    ...['#REF!', '#N/A', '#NV', '#WERT!', '#NAME?', '#DIV/0!', 'Err:502', '########'].flatMap((written) =>
      ['name', 'score', 'start', 'departments'].map(
        (field) => [field, written, /stands for a value that a spreadsheet could not show/] as const,
      ),
    ),
  ])('of %s, %j, is refused', async (field, written, reason) => {
    expect(await cell(field, written)).toEqual([field, expect.stringMatching(reason)])
  })

  it('with an id that looks shortened is taken with a doubt, in texts and lists too', async () => {
    const warning = (text: string) =>
      `"${text}" is taken as it is, and looks like a number that a spreadsheet has shortened.`
    for (const text of ['4.91513E+14', '4,91513E+14', '1.00E+05', '5E+15']) {
      expect(await rows(`id\n"${text}"\n`)).toEqual([[2, { id: text }, 'id', warning(text)]])
      for (const field of ['name', 'departments']) {
        expect(await cell(field, text)).toEqual([field === 'name' ? text : [text], field, warning(text)])
      }
    }
    for (const text of ['E14', '4E', '1e5x', '49151300000000', 'A4.9E+14'])
      expect(await cell('name', text)).toEqual([text])
  })

  it('with a time that looks like a date is taken with a doubt', async () => {
    for (const text of ['43525', '43525.5', '20190301']) {
      const reason = `"${text}" is taken as Unix seconds, a time of 1970, and looks like a date.`
      expect(await cell('start', text)).toEqual([Number(text), 'start', reason])
    }
  })
})

describe('columns without a name', () => {
  it('are ignored where they are empty', async () => {
    expect(await rows('id,,name,,\na,,b,,\nc, ,d,\ne,,f\n')).toEqual([
      [2, { id: 'a', name: 'b' }],
      [3, { id: 'c', name: 'd' }],
      [4, { id: 'e', name: 'f' }],
    ])
  })

  it('refuse a row with text in them, or without the cells before them', async () => {
    expect(await rows('id,name,\na,b,x\nc\nd,e,,\n')).toEqual([
      [2, '', 'It has "x" in column 3, which has no name in the header.', ['a', 'b', 'x']],
      [3, '', 'It has 1 cells, and the header 3.', ['c']],
      [4, '', 'It has 4 cells, and the header 3.', ['d', 'e', '', '']],
    ])
  })
})

describe('the last line with the number of rows', () => {
  it('needs no line break', async () => {
    for (const end of ['# 2 rows', '# 2 rows ', '# 2 rows,', '"# 2 rows"', '# 2 rows\r']) {
      expect(await rows(`id,name\na,b\nc,d\n${end}`)).toHaveLength(2)
    }
    expect(await rows('id,name\na,b\n# 1 row')).toHaveLength(1)
  })

  it('is refused when it is cut off itself', async () => {
    for (const end of ['# 2 row', '# 2 ro', '# 2', '#']) {
      expect(await readFault(`id,name\na,b\nc,d\n${end}`)).toEqual(fault(4, /^id: The file ends in this cell/))
    }
  })
})

describe('a separator', () => {
  it('is the one of the header', async () => {
    for (const separator of [',', ';', '\t', '|']) {
      const lines = [
        ['id', 'name', 'departments'],
        ['a', '"x,y;z\t|"', '"Judo;Sumo"'],
        ['# 1 row', '', ''],
      ]
      const content = lines.map((cells) => cells.join(separator)).join('\r\n')
      expect(await rows(content)).toEqual([[2, { id: 'a', name: 'x,y;z\t|', departments: ['Judo', 'Sumo'] }]])
    }
  })

  it("is that of Excel's first line, which is no header", async () => {
    for (const [first, separator] of [
      ['sep=;', ';'],
      ['sep=,', ','],
      ['SEP=\t', '\t'],
      ['"sep=;"', ';'],
    ]) {
      expect(await rows(`${first}\r\nid${separator}name\r\na${separator}b\r\n`)).toEqual([[3, { id: 'a', name: 'b' }]])
    }
  })
})

describe('the bytes of a workbook', () => {
  it('are refused with what to do', async () => {
    for (const head of ['PK\u0003\u0004', Buffer.from([0xd0, 0xcf, 0x11, 0xe0])]) {
      const content = Buffer.concat([Buffer.from(head as string), Buffer.from([0xff, 0, 1, 2])])
      expect(await readFault(content, 'unknown')).toEqual(fault(1, /^It is a workbook: save its sheet as CSV/))
    }
  })

  it('in UTF-16 are refused from the first line with half a character on', async () => {
    const good = Buffer.from('\ufeffid\nä\n', 'utf16le')
    const half = Buffer.from('b\ud800\nc\n', 'utf16le')
    for (const chunk of [1, 3, 1_000]) {
      expect(await readFault(Buffer.concat([good, half]), 'csv', chunk)).toEqual(fault(3, /^It is not UTF-8/))
      expect(await readFault(good.subarray(0, -1), 'csv', chunk)).toEqual(fault(2, /^It is not UTF-8/))
    }
  })
})

describe('a time', () => {
  const joinedAt = (value: unknown) =>
    recordTypes.memberships.record.safeParse({ organisation: 'a', person: 'b', joinedAt: value }).data?.joinedAt

  it.each([
    ['2019-03-01 00:00:00+01', '2019-02-28T23:00:00.000Z'],
    ['2019-03-01 00:00:00.5+01', '2019-02-28T23:00:00.500Z'],
    ['2019-03-01T00:00:00+0100', '2019-02-28T23:00:00.000Z'],
    ['2019-03-01T00:00+01:00', '2019-02-28T23:00:00.000Z'],
    ['2019-03-01 00:00Z', '2019-03-01T00:00:00.000Z'],
    ['20190301T000000Z', '2019-03-01T00:00:00.000Z'],
    ['20190301T0000-0530', '2019-03-01T05:30:00.000Z'],
    ['2019-03-01 00:00:00 +0100', '2019-02-28T23:00:00.000Z'],
    ['2019-03-01T00:00:00,25\u221201:00', '2019-03-01T01:00:00.250Z'],
    ['2019-03-01t00:00:00z', '2019-03-01T00:00:00.000Z'],
  ])('%j is %s', (written, expected) => {
    expect(joinedAt(written)).toBe(expected)
  })

  it.each([
    ...['2019-03-01', '2019-03-01 00:00:00', '20190301T000000', '01.03.2019', '01.03.2019 00:00', '3/1/2019'],
    ...[
      '2019-0301T00:00:00Z',
      '2019-02-29 00:00:00+01',
      '2019-03-01 24:00+01',
      '2019-03-01 00:0000+01',
      '2019-03-01 00:00+1',
    ],
  ])('is not %j', (written) => {
    expect(joinedAt(written)).toBeUndefined()
  })

  it('of chance is the same in each form', () => {
    const twoDigits = (value: number) => String(value).padStart(2, '0')
    const form = fc.record({
      basic: fc.boolean(),
      between: fc.constantFrom('T', 't', ' '),
      seconds: fc.boolean(),
      offset: fc.integer({ min: -14 * 60, max: 14 * 60 }),
      written: fc.constantFrom('hours', 'basic', 'extended'),
      space: fc.constantFrom('', ' '),
      utc: fc.constantFrom('', 'Z', 'z'),
    })
    const date = fc.date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(date, form, (at, { basic, between, seconds, offset, written, space, utc }) => {
        const minutes = utc ? 0 : written === 'hours' ? Math.trunc(offset / 60) * 60 : offset
        at.setUTCMilliseconds(0)
        if (!seconds) at.setUTCSeconds(0)
        const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, seconds ? 19 : 16)
        const [day, clock] = (basic ? local.replaceAll(/[-:]/g, '') : local).split('T')
        const [hours, rest] = [twoDigits(Math.trunc(Math.abs(minutes) / 60)), twoDigits(Math.abs(minutes) % 60)]
        const minute = { hours: '', basic: rest, extended: `:${rest}` }[written]
        const zone = utc || `${minutes < 0 ? '-' : '+'}${hours}${minute}`
        expect(joinedAt(`${day}${between}${clock}${space}${zone}`)).toBe(at.toISOString())
      }),
      { seed, numRuns: times(20_000, 1_000) },
    )
  })
})

describe('a file of chance', () => {
  /** Text without what is no text of a cell, or has a meaning of its own. */
  const text = fc
    .string({ unit: fc.constantFrom(...'aÄ€😀1 ,;|\t"\n#=[.'), maxLength: 8 })
    .map((value) => value.trim())
    .filter((value) => !/^#{3}|^\[/.test(value))
  const record = fc.record({
    id: fc.string({ unit: fc.constantFrom(...'abz-é日'), minLength: 1, maxLength: 6 }),
    name: text,
    score: fc.integer({ min: -99_999, max: 99_999 }).map((value) => value / 100),
    visible: fc.boolean(),
    start: fc.integer({ min: 86_400, max: 4_000_000_000 }).filter((value) => !/^(?:19|20)\d{6}$/.test(String(value))),
    place: fc.option(fc.integer({ min: 1, max: 999 })),
    departments: fc.array(
      fc.string({ unit: fc.constantFrom(...'aÄ ,'), minLength: 1 }).map((value) => `${value.trim()}x`),
    ),
  })
  const names = ['id', 'name', 'score', 'visible', 'start', 'place', 'departments'] as const
  const dialect = fc.record({
    separator: fc.constantFrom(',', ';', '\t', '|'),
    lineBreak: fc.constantFrom('\n', '\r\n', '\r'),
    encoding: fc.constantFrom('utf8', 'utf8 marked', 'utf16le', 'utf16be', 'utf16le unmarked', 'utf16be unmarked'),
    announced: fc.boolean(),
    quoted: fc.boolean(),
    german: fc.boolean(),
    padding: fc.constantFrom('', ' ', '\u00a0'),
    nameless: fc.integer({ min: 0, max: 2 }),
    empty: fc.integer({ min: 0, max: 2 }),
    end: fc.constantFrom('none', 'line', 'line without a break'),
    order: fc.shuffledSubarray([...names], { minLength: names.length }),
    chunk: fc.constantFrom(1, 2, 3, 7, 64, 100_000),
  })
  type Record = { [N in (typeof names)[number]]: unknown }

  const encode = (content: string, encoding: string) => {
    if (encoding.startsWith('utf8')) return Buffer.from(`${encoding === 'utf8' ? '' : '\ufeff'}${content}`)
    const bytes = Buffer.from(`${encoding.endsWith('unmarked') ? '' : '\ufeff'}${content}`, 'utf16le')
    return encoding.startsWith('utf16be') ? bytes.swap16() : bytes
  }

  const written = (value: unknown, { german }: { german: boolean }) => {
    if (value === null) return ''
    if (Array.isArray(value)) return value.map((one) => `${one};`).join(' ')
    if (typeof value === 'boolean') return (german ? ['FALSCH', 'WAHR'] : ['FALSE', 'TRUE'])[Number(value)]!
    return typeof value === 'number' && german ? String(value).replace('.', ',') : String(value)
  }

  it('has the same records in every dialect of spreadsheets, and the right lines', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 4 }), dialect, async (records, options) => {
        const { separator, lineBreak, order, padding, quoted, nameless, empty, end, announced } = options
        const quote = (cell: string) =>
          quoted || /[,;|\t"\n\r]/.test(cell)
            ? `"${padding}${cell.replaceAll('"', '""')}"`
            : `${padding}${cell}${padding}`
        const formatLine = (cells: readonly string[]) =>
          [...cells, ...Array<string>(nameless).fill('')]
            .map((cell) => (cell === '' ? '' : quote(cell)))
            .join(separator)
        let line = 1
        let content = ''
        const add = (text: string) => {
          const at = line
          content += text + lineBreak
          line += text.split(/\r\n|\n|\r/).length
          return at
        }
        if (announced) add(`sep=${separator}`)
        add(formatLine(order))
        const expected = records.map((one: Record) => {
          for (let i = 0; i < empty; i++) add(i === 0 ? '' : separator.repeat(order.length + nameless - 1))
          return [add(formatLine(order.map((name) => written(one[name], options)))), one]
        })
        if (end !== 'none') add(`# ${records.length} rows`)
        if (end === 'line without a break') content = content.slice(0, -lineBreak.length)
        expect(await rows(encode(content, options.encoding), 'unknown', options.chunk)).toEqual(expected)
      }),
      { seed, numRuns: times(5_000, 300) },
    )
  })
})

it('null in NDJSON is an empty cell, in chosen fields of every kind', async () => {
  const readRecord = async (recordType: RecordTypeName, format: 'csv' | 'ndjson', content: string) => {
    const open = async function* () {
      yield Buffer.from(content)
    }
    for await (const row of readRows({ format, open }, listFields(recordType))) return row.record
    return undefined
  }
  const asked = fc.constantFrom(...recordTypeNames).chain((recordType) => {
    const names = listFields(recordType).flatMap(({ name, key, type }) => (key || type === 'questions' ? [] : name))
    return fc.record({ kind: fc.constant(recordType), empty: fc.shuffledSubarray(names) })
  })
  await fc.assert(
    fc.asyncProperty(asked, async ({ kind: recordType, empty }) => {
      const keys = listFields(recordType).flatMap(({ name, key }) => (key ? name : []))
      const cell = (name: string) => (keys.includes(name) ? 'x' : null)
      const names = [...keys, ...empty]
      const csv = `${names.join(',')}\n${names.map(cell).join(',')}\n`
      const ndjson = JSON.stringify(Object.fromEntries(names.map((name) => [name, cell(name)])))
      expect(await readRecord(recordType, 'ndjson', ndjson)).toEqual(await readRecord(recordType, 'csv', csv))
    }),
    { seed, numRuns: times(2_000, 300) },
  )
})
