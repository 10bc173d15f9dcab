import { describe, expect, it } from 'vitest'
import { LINE_LIMIT } from '../../server/commands/import/blocks.ts'
import { FileFault } from '../../server/commands/import/file-fault.ts'
import { readRows } from '../../server/commands/import/read-rows.ts'
import { fault, fields, readFault, rows } from './import-reading.ts'

describe('NDJSON', () => {
  it('has a record a line, with or without a byte order mark, CRLF, empty lines and a last newline', async () => {
    const expected = [
      [1, { id: 'a' }],
      [4, { id: 'ü €' }],
    ]
    for (const end of ['', '\n', '\r\n\r\n']) {
      for (const chunk of [1, 2, 7, 1_000]) {
        expect(await rows(`\ufeff{"id":"a"}\r\n\n  \r\n{"id":"ü €"}${end}`, 'ndjson', chunk)).toEqual(expected)
      }
    }
  })

  it('refuses a line that is not JSON, and goes on', async () => {
    expect(await rows('{"id":"a"}\n{"id":\r\nnull\n{"id":"b"}', 'ndjson')).toEqual([
      [1, { id: 'a' }],
      [2, '', expect.stringMatching(/^It is not JSON: .*\.$/), '{"id":'],
      [3, null],
      [4, { id: 'b' }],
    ])
  })

  it('refuses an object with one name twice, at any depth and however it is written', async () => {
    const twice = [
      ['{"id":"a","score":1,"score":1}', 'score'],
      ['{"id":"a","na\\u006de":"b","name":"b"}', 'name'],
      ['{"id":"a","questions":[{"id":"q"},{"id":"q","text":"{\\"","text":""}]}', 'text'],
      ['{"id":"a","__proto__":1,"__proto__" : 1}', '__proto__'],
      [`{"id":"a","${'x'.repeat(100)}":1,"${'x'.repeat(100)}":1}`, 'x'.repeat(64)],
      [`{"id":"a","name":"${'\\n'.repeat(LINE_LIMIT / 2 - 100)}","id":"a"}`, 'id'],
    ]
    for (const [line, name] of twice) {
      expect(await rows(`${line}\n`, 'ndjson', LINE_LIMIT)).toEqual([[1, name, 'It occurs twice in one object.', line]])
    }
    const once =
      '{"id":"a","name":"id\\":","questions":[{"id":"q","text":":"},{"id":"q","text":"text"}],"start":{"id":1}}'
    expect(await rows(once, 'ndjson')).toEqual([[1, JSON.parse(once)]])
  })

  it('has null for what is empty, in each field', async () => {
    const names = [...['name', 'score', 'visible', 'start', 'place'], ...['departments', 'state', 'questions']]
    const line = JSON.stringify({ id: 'a', ...Object.fromEntries(names.map((name) => [name, null])) })
    expect(await rows(line, 'ndjson')).toEqual([
      [1, { id: 'a', name: '', place: null, departments: [], questions: [] }],
    ])
    const parts = { options: null, solution: null }
    expect(await rows(JSON.stringify({ id: null, questions: [{ id: 'q', ...parts }, null, 7] }), 'ndjson')).toEqual([
      [1, { questions: [{ id: 'q' }, null, 7] }],
    ])
    const others = '{"id":"null","shoes":null,"departments":["null",null],"__proto__":null}'
    const [[, record]] = (await rows(others, 'ndjson')) as [[number, object]]
    expect(JSON.stringify(record)).toBe(others)
  })

  it('is refused without lines', async () => {
    for (const content of ['', '\ufeff', '\n', ' \r\n\n']) {
      expect(await readFault(content, 'ndjson')).toEqual(fault(1, 'It is empty.'))
    }
  })
})

describe('CSV', () => {
  it('has the fields that the header names, with quotes, commas and line breaks in cells', async () => {
    const content = 'name,id\r\n"Müller, ""Max""",a\r\n"two\r\nlines",b\n"three\nlines\n",c\nx,,\n,,\n d ,d\n,e\n'
    for (const chunk of [1, 2, 7, 1_000]) {
      expect(await rows(`\ufeff${content}`, 'csv', chunk)).toEqual([
        [2, { name: 'Müller, "Max"', id: 'a' }],
        [3, { name: 'two\r\nlines', id: 'b' }],
        [5, { name: 'three\nlines', id: 'c' }],
        [8, '', 'It has 3 cells, and the header 2.', ['x', '', '']],
        [10, { name: 'd', id: 'd' }],
        [11, { name: '', id: 'e' }],
      ])
    }
  })

  it('reads numbers, booleans, times and lists', async () => {
    const cells = async (row: string) => {
      const [found] = await rows(`score,visible,start,departments\n${row}\n`)
      return Object.values(found![1] as object)
    }
    expect(await cells('12.5,true,1700000000,Judo;Track & field')).toEqual([
      ...[12.5, true, 1_700_000_000],
      ['Judo', 'Track & field'],
    ])
    expect(await cells('-300,false,2026-05-01T10:00:00Z,"[""a;b""]"')).toEqual([
      ...[-300, false, '2026-05-01T10:00:00Z'],
      ['a;b'],
    ])
    expect(await cells('1;000,yes,soon,Judo')).toEqual(['1;000', 'yes', 'soon', ['Judo']])
  })

  it('reads an empty cell as null, an empty list or an empty text, where the field may be that, else leaves it out', async () => {
    expect(await rows('id,name,score,visible,start,place,departments,state\na,,,,,,,\n')).toEqual([
      [2, { id: 'a', name: '', place: null, departments: [] }],
    ])
  })

  it('refuses a list that is neither texts nor JSON', async () => {
    expect(await rows('id,departments\na,[Judo\nb,Judo\n')).toEqual([
      [2, 'departments', 'It begins with [ and is not a JSON array.', ['a', '[Judo']],
      [3, { id: 'b', departments: ['Judo'] }],
    ])
  })

  it.each([
    ['id,shoe size\n', 1, /^There is no field "shoe size". The header names fields: id, name, /],
    ['\nid:name\n1:2', 2, /^There is no field "id:name"/],
    ['id,name,id\n', 1, /^It has the column id twice/],
    ['id,questions\n', 1, /^It has the column questions, which only NDJSON can hold/],
    ['id,name\na,"b\nc,d\n', 2, /a closing quote is missing/],
    ['id,name\na,"b"c\nc,d', 2, /A quote within quotes must be doubled/],
    ['id,name\n"x\r\ny",z\na,b"c"\nc,d', 4, /a quote within a cell that does not begin with one/],
    ['id,name\n\n,\r\n  \n"x\r\ny",b"c"\nc,d', 5, /a quote within a cell that does not begin with one/],
    ['id,name\r\ra,b\r\rc,"d\r', 5, /a closing quote is missing/],
  ])('%j cannot be read from line %i on', async (content, line, message) => {
    expect(await readFault(content)).toEqual(fault(line, message))
    expect(await readFault(content, 'csv', 1_000)).toEqual(fault(line, message))
  })

  it('ends a row of more than a mebibyte, which a missing quote makes', async () => {
    const content = `id,name\na,"${'b\n'.repeat(LINE_LIMIT)}`
    expect(await readFault(content, 'csv', 65_536)).toEqual(fault(2, /is a closing quote missing/))
  })

  it('has no rows with a header alone, and is refused without', async () => {
    for (const content of ['id,name\n', 'id,name\r\n\n', 'id,name\n ']) expect(await rows(content)).toEqual([])
    for (const content of ['', '\ufeff', '\n', ',,\n']) {
      expect(await readFault(content)).toEqual(fault(1, 'It is empty.'))
    }
  })

  it.each([
    ['id,name\na,b\nc,d', 3, 'name'],
    ['id,name\na,b\nc,"two\nlines"', 4, 'name'],
    ['id,name\na,b\nc', 3, 'id'],
    ['id,name', 1, 'name'],
  ])('%j is cut off: line %i ends in the cell of %s', async (content, line, name) => {
    const message = `${name}: The file ends in this cell, as one that is cut off: a CSV file ends with a line break.`
    for (const chunk of [1, 7, 1_000]) expect(await readFault(content, 'csv', chunk)).toEqual(fault(line, message))
  })
})

describe.each(['ndjson', 'csv'] as const)('the bytes of %s', (format) => {
  const [head, row] = format === 'csv' ? ['id\n', 'ü\n'] : ['{"id":"a"}\n', '{"id":"ü"}\n']

  it('are refused from the first line that is not UTF-8', async () => {
    const content = Buffer.concat([Buffer.from(head + row), Buffer.from(row, 'latin1'), Buffer.from(row)])
    for (const chunk of [1, 3, 1_000]) {
      expect(await readFault(content, format, chunk)).toEqual(fault(3, /^It is not UTF-8/))
    }
  })

  it('are refused from a line of more than a mebibyte', async () => {
    const long = 'x'.repeat(LINE_LIMIT + 1)
    for (const end of ['', '\n', '\nmore']) {
      for (const chunk of [10_000, 4_000_000]) {
        expect(await readFault(head + row + long + end, format, chunk)).toEqual(
          fault(3, /^It is longer than 1048576 bytes/),
        )
      }
    }
  })
})

describe.each([
  ['ndjson', '{"id":"a"}\n', (count: unknown) => `{"rows":${count}}\n`],
  ['csv', 'a\n', (count: unknown) => `# ${count} rows\n`],
] as const)('the last line of %s that says how many rows there are', (format, row, end) => {
  const head = format === 'csv' ? 'id\n' : ''
  const [first, record] = [format === 'csv' ? 2 : 1, { id: 'a' }]

  it('is no row, and may be left out', async () => {
    expect(await rows(`${head}${row}${row}${end(2)}\n`, format)).toEqual([
      [first, record],
      [first + 1, record],
    ])
    expect(await rows(head + end(0), format)).toEqual([])
    expect(await readFault(head + row, format)).toEqual([[first, record]])
  })

  it('is needed when the file has to be whole', async () => {
    expect(await rows(head + row + end(1), format, 7, true)).toEqual([[first, record]])
    const message =
      /^With --full the last line must state the number of rows: (?:\{"rows": N\}|# N rows). Or use --rows N.$/
    expect(await readFault(head + row + row, format, 7, true)).toEqual(fault(first + 1, message))
  })

  it('is missing wherever a file is cut off', async () => {
    const content = head + row.repeat(11) + end(11)
    for (let cut = 0; cut < content.trimEnd().length; cut++) {
      expect(await readFault(content.slice(0, cut), format, 1_000, true), `at ${cut}`).toBeInstanceOf(FileFault)
    }
    expect(await rows(content, format, 1_000, true)).toHaveLength(11)
  })

  it('refuses a file with more or fewer rows, or that goes on', async () => {
    for (const [wrong, said] of Object.entries({ 1: '1 row', 3: '3 rows' })) {
      const message = `It states ${said}, but there are 2 before it.`
      expect(await readFault(head + row + row + end(wrong), format)).toEqual(fault(first + 2, message))
    }
    const message = 'It follows the line that states the number of rows.'
    for (const more of [row, end(1)]) {
      expect(await readFault(`${head}${row}${end(1)}\n${more}`, format)).toEqual(fault(first + 3, message))
    }
  })

  it.each(['x', '', '1.5', '-1', '"1"'])('is not %j', async (count) => {
    const found = await readFault(head + row + end(count), format)
    expect(found).not.toEqual([[first, record]])
  })
})

it('the last line of CSV may have the empty cells of a spreadsheet', async () => {
  expect(await rows('id,name\na,b\n# 1 row,\n')).toEqual([[2, { id: 'a', name: 'b' }]])
  expect(await rows('id,name\n# 0 rows,b\n')).toEqual([[2, { id: '# 0 rows', name: 'b' }]])
})

it('a file without an ending of its name is NDJSON when it begins with a bracket, else CSV', async () => {
  expect(await rows('\ufeff\n {"id":"a"}\n', 'unknown')).toEqual([[2, { id: 'a' }]])
  expect(await rows('[1]\n', 'unknown')).toEqual([[1, [1]]])
  expect(await rows('id\na\n', 'unknown')).toEqual([[2, { id: 'a' }]])
})

it('ends the reading of a file with the last row that is asked for', async () => {
  let read = 0
  let closed = false
  const open = async function* () {
    try {
      for (;;) {
        read += 1
        yield Buffer.from(read === 1 ? 'id\n' : 'a\n'.repeat(100_000))
      }
    } finally {
      closed = true
    }
  }
  for await (const row of readRows({ format: 'csv', open }, fields)) if (row.line > 10) break
  await expect.poll(() => closed).toBe(true)
  expect(read).toBeLessThan(10)
})
