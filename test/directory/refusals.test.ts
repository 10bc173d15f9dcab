import { beforeAll, describe, expect, it } from 'vitest'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { recordTypeNames } from '../../routers/directory/record-types.ts'
import { platformClaims } from '../support/platform.ts'
import { id } from '../support/tenant.ts'

import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind, storeSamples } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()
const samples = sampleRecords()
const other = sampleRecords()
beforeAll(async () => {
  await storeSamples(world, samples)
  await storeSamples(world, other)
})

/** The error over tRPC. */
async function refused(recordType: RecordTypeName, items: readonly unknown[]) {
  const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
  const reply = await world.internal('POST', `/trpc/directory.${recordType}.upsert`, { headers, body: { items } })
  const { data, message } = reply.body.error
  return { status: reply.status, code: data.error, message, refused: data.refused }
}

const idText = 'an id: 1 to 255 visible characters, with spaces only between them'
const timeText = 'a time of the years 1 to 9999: Unix seconds, or ISO 8601 with an offset'
const { club, academy, person, group, calendar } = {
  club: samples.organisations.id,
  academy: samples.lessons.academy,
  person: samples.people.id,
  group: samples.groups.id,
  calendar: samples.calendars.id,
}
const { events, quizzes, results, memberCards, trainingPlans } = samples
const choice = { id: 'q1', type: 'single', text: '?', options: ['Yes', 'No'], solution: ['Yes'] }

const notEmail = (email: string): Case => [
  ...(['people', { id: person, email }, 'email'] as const),
  'is neither empty nor an e-mail address of at most 254 characters, such as name@example.org.',
]

const HOSTILE = 'has control characters, or characters that change the direction of text.'
const OF_LINE = 'has control characters or line breaks, or characters that change the direction of text.'
const hostileName = (firstName: string): Case => [
  ...(['people', { id: person, firstName }, 'firstName', OF_LINE] as const),
]

const stray = (character: string) => `has ${character} where it joins nothing: it belongs between letters or emoji.`
const strayName = (firstName: string): Case => [
  ...(['people', { id: person, firstName }, 'firstName'] as const),
  stray(firstName.includes('\u200d') ? 'U+200D' : 'U+200C'),
]

const quizWith = (change: object, reason: string): Case => [
  ...(['quizzes', { id: quizzes.id, questions: [{ ...choice, ...change }] }, 'questions', reason] as const),
]
const equalOptions = (...options: [string, string, ...string[]]) =>
  quizWith(
    { options, solution: [options[0]] },
    `It has two options that are equal for a reader, ${options
      .slice(0, 2)
      .map((one) => JSON.stringify(one).replaceAll('\u00a0', '\\u00a0'))
      .join(' and ')}, in the question "q1".`,
  )

type Case = [kind: RecordTypeName, record: AnyRecord, field: string, reason: string]
/** Changes of one record. */
const changes = (recordType: RecordTypeName, key: AnyRecord, rows: [AnyRecord, string, string][]) =>
  rows.map(([change, field, reason]): Case => [recordType, { ...key, ...change }, field, reason])

/** A record, or a change of the sample, with the field and the reason. */
const cases: Case[] = [
  ['people', { id: '' }, 'id', `"" is not ${idText}.`],
  ['people', { id: ' a' }, 'id', `" a" is not ${idText}.`],
  ['people', { id: 'a\u0007' }, 'id', `"a\\u0007" is not ${idText}.`],
  ['people', { id: 'a\u200bb' }, 'id', `"a\u200bb" is not ${idText}.`],
  ['people', { id: 'x'.repeat(256) }, 'id', `"${'x'.repeat(62)}… is not ${idText}.`],
  ['people', { id: 7 }, 'id', `7 is not ${idText}.`],
  ['people', { firstName: 'A' }, 'id', 'It is missing.'],
  ...changes('people', { id: person }, [
    [
      { fristName: 'A' },
      'fristName',
      'This field does not exist. The fields are id, firstName, lastName, email, birthday, image, version.',
    ],
    [{ firstName: 'a\0b' }, 'firstName', '"a\\u0000b" is not a text of at most 65536 bytes, without NUL.'],
    [{ image: 'https://example.org/\u001b' }, 'image', OF_LINE],
    [{ firstName: null }, 'firstName', 'null is not a text of at most 65536 bytes, without NUL.'],
    [
      { firstName: 'x'.repeat(40_000), lastName: 'y'.repeat(40_000) },
      '',
      `Its texts have ${80_000 + samples.people.email.length} bytes; at most 65536 are allowed.`,
    ],
    [{ birthday: '2026-02-29' }, 'birthday', '"2026-02-29" is not a date: YYYY-MM-DD, or null.'],
    [{ birthday: '0000-12-31' }, 'birthday', '"0000-12-31" is not a date: YYYY-MM-DD, or null.'],
    [{ version: -1 }, 'version', '-1 is not a whole number from 0 to 9007199254740991.'],
    [{ version: '3' }, 'version', '"3" is not a whole number from 0 to 9007199254740991.'],
  ]),
  ...['a\u001b[2Kb', 'a\u009b2Kb', '\u0007', '\u007f', 'a\nb', 'a\rb', 'a\tb'].map(hostileName),
  ...['a\u202eb', 'a\u2066b', 'a\u2028b'].map(hostileName),
  ...['\u200d', 'Anna\u200d', 'می\u200c ', '👩\u200d', 'A\u200d\u200dB'].map(strayName),
  ...changes('organisations', { id: club }, [
    [{ name: '\u200cClub' }, 'name', stray('U+200C')],
    [{ name: '\u001b]0;x\u0007' }, 'name', OF_LINE],
    [{ kind: 'team' }, 'kind', '"team" is not one of club, academy, provider.'],
    [{ kind: 'academy' }, 'kind', '"academy" is another kind than its own, "club", which it keeps.'],
  ]),
  ...changes('memberCards', { serial: memberCards.serial }, [
    [{ departments: ['a', '🏴\u{e0067}'] }, 'departments', stray('U+E0067')],
    [{ name: 'A\u001b[31m' }, 'name', OF_LINE],
    [{ departments: ['a', 'b\u001b'] }, 'departments', `It ${HOSTILE}`],
    [
      { departments: ['a', null] },
      'departments.1',
      '["a",null] is not a list of texts of at most 65536 bytes together.',
    ],
  ]),
  ...changes('trainingPlans', { id: trainingPlans.id }, [
    [{ description: 'a\n\ufe0f' }, 'description', stray('U+FE0F')],
    [{ exercises: ['a', '\u200d'] }, 'exercises', stray('U+200D')],
    [{ description: 'a\n\u001b' }, 'description', HOSTILE],
    [{ exercises: ['a', '\u202e'] }, 'exercises', `It ${HOSTILE}`],
    [
      { groups: [other.groups.id] },
      'groups',
      `"${other.groups.id}" is a group of another club, "${other.groups.club}".`,
    ],
    [
      { exercises: ['x', 1] },
      'exercises.1',
      '["x",1] is not a list of at most 1000 texts of at most 65536 bytes each.',
    ],
    [{ exercises: ['x', 'ü'.repeat(32_769)] }, 'exercises.1', 'is not a list of at most 1000 texts'],
  ]),
  ...changes('quizzes', { id: quizzes.id }, [
    [{ questions: [{ ...choice, text: 'a\u200d' }] }, 'questions', stray('U+200D')],
    [{ questions: [{ ...choice, text: '\u009b' }] }, 'questions', `It ${HOSTILE}`],
    [{ questions: [{ ...choice, options: ['Yes', '\b'] }] }, 'questions', `It ${HOSTILE}`],
    [
      { lesson: other.lessons.id },
      'lesson',
      `"${other.lessons.id}" is a lesson of another academy, "${other.lessons.academy}".`,
    ],
    [{ threshold: 101 }, 'threshold', '101 is not a number from 0 to 100.'],
    [{ attempts: 0 }, 'attempts', '0 is not a whole number from 1, or null.'],
    [
      { questions: [{ ...choice, solution: ['Maybe'] }] },
      'questions.0',
      'Each solution of a single or multiple question is one of its options.',
    ],
    [
      { questions: [{ ...choice, solution: ['Yes', 'No'] }] },
      'questions.0',
      'A single question has exactly one solution.',
    ],
    [
      {
        questions: [
          { ...choice, id: 'ü' },
          { ...choice, id: 'u\u0308' },
        ],
      },
      'questions',
      'It has two questions whose ids are equal for a reader, "ü" and "u\u0308".',
    ],
    [{ questions: [choice, choice] }, 'questions', 'The ids of the questions of a quiz differ.'],
  ]),
  ...changes('events', { id: events.id }, [
    [{ location: 'a\rb' }, 'location', HOSTILE],
    [{ end: events.start - 1 }, 'end', 'is before the start of the event.'],
    [
      { calendar: other.calendars.id },
      'calendar',
      `"${other.calendars.id}" is a calendar of another club, "${other.calendars.club}".`,
    ],
    [
      { groups: [group, other.groups.id] },
      'groups',
      `"${other.groups.id}" is a group of another club, "${other.groups.club}".`,
    ],
    [{ groups: [group, 'none'] }, 'groups', '"none" is not the id of a group.'],
    [{ groups: ['a\n'] }, 'groups.0', '["a\\n"] is not a list of at most 1000 ids.'],
    [{ groups: group }, 'groups', `"${group}" is not a list of at most 1000 ids.`],
  ]),
  ...['n/a', 'anna', 'anna@', '@example.org', 'anna@@example.org', ' anna@example.org', 'anna@example.org\n'].map(
    notEmail,
  ),
  ...['Anna <anna@example.org>', 'a@example.org, b@example.org', `${'ü'.repeat(243)}@example.org`].map(notEmail),
  ['people', { id: 'new', firstName: 'A', lastName: 'B' }, 'email', 'It is missing, and a new record needs it.'],
  ...['at', 'AUT', 'XX', 'UK', ''].map(
    (country): Case => [
      'organisations',
      { id: club, country },
      'country',
      `${JSON.stringify(country)} is not a country: two letters of ISO 3166-1, such as AT, or null.`,
    ],
  ),
  ['guardians', { child: person, guardian: 'nobody' }, 'guardian', '"nobody" is not the id of a person.'],
  ['guardians', { child: person, guardian: person }, 'guardian', `"${person}" is the child.`],
  ['memberships', { organisation: 'nowhere', person }, 'organisation', '"nowhere" is not the id of an organisation.'],
  ['memberships', { organisation: club, person: 'nobody' }, 'person', '"nobody" is not the id of a person.'],
  ...changes('memberships', { organisation: club, person }, [
    [{ leftAt: 'soon' }, 'leftAt', `"soon" is not ${timeText}, or null.`],
    [{ joinedAt: '2026-01-01T00:00:00' }, 'joinedAt', `"2026-01-01T00:00:00" is not ${timeText}.`],
    [{ joinedAt: 1_764_000_000_000 }, 'joinedAt', `1764000000000 is not ${timeText}.`],
    [
      { leftAt: samples.memberships.joinedAt - 1 },
      'leftAt',
      '"2023-11-14 22:13:19+00" is before joinedAt, of this record or as stored.',
    ],
    [{ joinedAt: 1_800_000_000, leftAt: 1_700_000_001 }, 'leftAt', 'is before'],
  ]),
  ['groups', { id: id('new'), club: academy, name: '' }, 'club', `"${academy}" is of the kind academy, not a club.`],
  [
    'groups',
    { id: group, club: other.groups.club },
    'club',
    `"${other.groups.club}" is another club than its own, "${club}", which it keeps.`,
  ],
  ['groupMembers', { group, person, role: 'captain' }, 'role', '"captain" is not one of member, trainer.'],
  ['groupMembers', { group: 'none', person, role: 'member' }, 'group', '"none" is not the id of a group.'],
  ['calendars', { id: calendar, visible: 'yes' }, 'visible', '"yes" is not true or false.'],
  ...changes('competitions', { id: samples.competitions.id }, [
    [{ clubs: [academy] }, 'clubs', `"${academy}" is of the kind academy, not a club.`],
    [{ host: 'none' }, 'host', '"none" is not the id of an organisation.'],
  ]),
  ...changes('results', { id: results.id }, [
    [{ place: 0 }, 'place', '0 is not a whole number from 1, or null.'],
    [{ place: 2_147_483_648 }, 'place', '2147483648 is not a whole number from 1, or null.'],
    [{ score: '1' }, 'score', '"1" is not a number.'],
    [{ discipline: 'none' }, 'discipline', '"none" is not the id of a discipline.'],
  ]),
  [
    'lessons',
    { id: samples.lessons.id, academy: other.lessons.academy },
    'academy',
    `"${other.lessons.academy}" is another academy than its own, "${academy}", which it keeps.`,
  ],
  ['lessons', { id: id('new'), academy: club, title: '' }, 'academy', `"${club}" is of the kind club, not an academy.`],
  equalOptions('Yes', 'Yes'),
  equalOptions('Red', 'Red '),
  equalOptions('Zürich', 'Zu\u0308rich', 'Bern'),
  equalOptions('New York', 'New\u00a0 York'),
  equalOptions('', ' '),
]

const readBack = () =>
  Promise.all(recordTypeNames.map(async (recordType) => (await ofKind(world, recordType).list({ limit: 200 })).items))

describe('upsert', () => {
  let before: Awaited<ReturnType<typeof readBack>>
  beforeAll(async () => {
    before = await readBack()
  })

  it.each(cases)('refuses %s %j by %s', async (recordType, record, field, reason) => {
    // A good record in front of it is not stored either.
    const good = { ...samples[recordType], ...('name' in samples[recordType] && { name: 'New name' }) }
    const isOther = JSON.stringify(record).includes(Object.values(good)[0] as string)
    const items = isOther ? [record] : [good, record]
    expect(await refused(recordType, items)).toEqual({
      status: 400,
      code: 'invalid_request',
      message: 'Nothing was stored: 1 record was refused.',
      refused: [{ index: items.length - 1, field, reason: expect.stringContaining(reason) }],
    })
    expect(await readBack()).toEqual(before)
  })

  it('names each refused record of a call, in their order, up to 100', async () => {
    const items = Array.from({ length: 150 }, (_, i) => ({
      organisation: i % 2 ? club : 'none',
      person: i % 3 ? '' : 'nobody',
    }))
    const { message, refused: named } = await refused('memberships', items)
    expect(message).toBe('Nothing was stored: 150 records were refused.')
    expect(named).toHaveLength(100)
    expect(named.map(({ index }: { index: number }) => index)).toEqual(
      [...named.map(({ index }: { index: number }) => index)].sort((a, b) => a - b),
    )
  })

  it('refuses the second record of a key', async () => {
    const items = [samples.memberships, other.memberships, { ...samples.memberships, leftAt: 1 }]
    expect((await refused('memberships', items)).refused).toEqual([
      { index: 2, field: 'organisation', reason: `"${club} / ${person}" comes more than once, first at 0.` },
    ])
  })

  it.each([
    ['no items', { items: [] }],
    ['1,001 items', { items: Array.from({ length: 1001 }, () => ({})) }],
    ['items that are no list', { items: {} }],
    ['nothing', undefined],
  ])('refuses %s', async (_, body) => {
    const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
    const reply = await world.internal('POST', '/trpc/directory.people.upsert', { headers, body: body ?? '{}' })
    expect([reply.status, reply.body.error.data.error]).toEqual([400, 'invalid_request'])
  })

  it.each([[null], [7], ['text'], [[]], [[{}]]])('refuses the record %j', async (record) => {
    expect((await refused('people', [record])).refused).toEqual([
      { index: 0, field: '', reason: `${JSON.stringify(record)} is not a record.` },
    ])
  })
})

describe('a text', () => {
  it('may have line breaks where it is long, and what emoji, Persian and Hebrew need', async () => {
    const texts = {
      people: { firstName: 'می\u200cخواهم', lastName: '\u200fשלום 👩\u200d🚒 ❤\ufe0f' },
      events: { location: 'Main Street 1\r\nHall 2' },
      trainingPlans: { description: 'One\n\tTwo', exercises: ['3 × 10\n4 × 8'] },
    }
    for (const [recordType, change] of Object.entries(texts)) {
      const items = [{ ...samples[recordType as RecordTypeName], ...change }]
      expect(await ofKind(world, recordType as RecordTypeName).upsert({ items })).toMatchObject({ changed: 1 })
      const stored = (await ofKind(world, recordType as RecordTypeName).list({ limit: 200 })).items as AnyRecord[]
      expect(stored).toContainEqual(expect.objectContaining(change))
      await ofKind(world, recordType as RecordTypeName).upsert({ items: [samples[recordType as RecordTypeName]] })
    }
  })

  it('that is already stored may stay, and blocks no other change', async () => {
    const { people, quizzes, trainingPlans } = other
    const bad = 'a\u001b[2Kb'
    await world.db.person.update({ where: { id: people.id }, data: { firstName: bad } })
    await world.db.question.updateMany({ where: { quizId: quizzes.id, id: 'q1' }, data: { text: bad } })
    await world.db.exercise.updateMany({ where: { planId: trainingPlans.id, position: 1 }, data: { name: bad } })
    const findRecord = async (recordType: RecordTypeName, id: string) =>
      ((await ofKind(world, recordType).list({ limit: 200 })).items as AnyRecord[]).find((one) => one.id === id)!
    for (const [recordType, { id }, change] of [
      ['people', people, { lastName: 'New' }],
      ['quizzes', quizzes, { title: 'New' }],
      ['trainingPlans', trainingPlans, { category: 'New' }],
    ] as const) {
      const stored = await findRecord(recordType, id)
      expect(JSON.stringify(stored)).toContain('\\u001b')
      expect(await ofKind(world, recordType).upsert({ items: [{ ...stored, ...change }] })).toMatchObject({
        changed: 1,
      })
      expect(await findRecord(recordType, id)).toEqual({ ...stored, ...change })
    }
  })
})

describe('the options of a quiz', () => {
  const findRecord = async () =>
    ((await ofKind(world, 'quizzes').list({ limit: 200 })).items as AnyRecord[]).find(
      ({ id }) => id === other.quizzes.id,
    )!

  it('may differ in case, and be the solution in another writing', async () => {
    const questions = [
      { id: 'q1', type: 'single', text: '?', options: ['No', 'no', 'Zürich '], solution: ['Zu\u0308rich'] },
    ]
    expect(await ofKind(world, 'quizzes').upsert({ items: [{ id: other.quizzes.id, questions }] })).toMatchObject({
      changed: 1,
    })
    // As the option is written.
    expect((await findRecord()).questions).toEqual([{ ...questions[0], solution: ['Zürich '] }])
  })

  it('that are stored and equal stay, and block no other change', async () => {
    await world.db.question.updateMany({
      where: { quizId: other.quizzes.id },
      data: { options: ['Red', 'Red '], solution: ['Red '] },
    })
    const stored = await findRecord()
    const change = { ...stored, title: 'Colours' }
    expect(await ofKind(world, 'quizzes').upsert({ items: [change] })).toMatchObject({ changed: 1 })
    expect(await findRecord()).toEqual(change)
  })
})

describe('a question that has been answered', () => {
  beforeAll(async () => {
    const { people } = samples
    await world.db.membership.createMany({
      data: [{ organisationId: academy, personId: people.id }],
      skipDuplicates: true,
    })
    const claims = { sub: people.id, organisation: academy }
    const answered = await world.call('POST', `/quizzes/${quizzes.id}/results`, {
      claims,
      body: { answers: { q1: 'Yes' } },
    })
    expect(answered.status).toBe(201)
  })

  it.each([
    ['is left out', [{ id: 'q1', type: 'text', text: '?' }], 'q1'],
    ['gets another type', [choice, { id: 'q2', type: 'image', text: '?' }], 'q2'],
  ])('stays when it %s', async (_, questions, named) => {
    const before = await readBack()
    expect((await refused('quizzes', [{ id: quizzes.id, questions }])).refused).toEqual([
      {
        index: 0,
        field: 'questions',
        reason: `"${named}" has been answered: a question with answers stays, and keeps its type.`,
      },
    ])
    expect(await readBack()).toEqual(before)
    expect(await world.db.answer.count({ where: { quizId: quizzes.id } })).toBe(2)
  })

  it('takes another text, order and solution', async () => {
    const questions = [
      { id: 'q2', type: 'text', text: 'New' },
      { ...choice, solution: ['No'] },
    ]
    expect(await ofKind(world, 'quizzes').upsert({ items: [{ id: quizzes.id, questions }] })).toMatchObject({
      changed: 1,
    })
    expect(await world.db.answer.count({ where: { quizId: quizzes.id } })).toBe(2)
  })

  it('keeps its quiz, which ends by being closed', async () => {
    expect(await ofKind(world, 'quizzes').end({ ids: [quizzes.id] })).toEqual({ ended: 1 })
    expect(await ofKind(world, 'quizzes').end({ ids: [quizzes.id] })).toEqual({ ended: 0 })
    const { state } = await world.db.quiz.findUniqueOrThrow({ where: { id: quizzes.id } })
    expect([state, await world.db.quizResult.count({ where: { quizId: quizzes.id } })]).toEqual(['closed', 1])
  })
})

describe('end and list', () => {
  it.each([
    ['people', { ids: [] }],
    ['people', { ids: [''] }],
    ['people', { ids: [{ id: 'x' }] }],
    ['memberships', { ids: ['x'] }],
    ['memberships', { ids: [{ organisation: 'x' }] }],
    ['groupMembers', { ids: [{ group: 'x', person: 'y', role: 'captain' }] }],
  ] as const)('end of %s refuses %j', async (recordType, body) => {
    const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
    const reply = await world.internal('POST', `/trpc/directory.${recordType}.end`, { headers, body })
    expect([reply.status, reply.body.error.data.error]).toEqual([400, 'invalid_request'])
  })

  it('end takes ids that are not stored', async () => {
    expect(await ofKind(world, 'people').end({ ids: [id('nobody'), id('nobody')] })).toEqual({ ended: 0 })
  })

  it.each([{ limit: 0 }, { limit: 201 }, { after: '' }, { after: { id: 'x' } }])('list refuses %j', async (input) => {
    const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
    const path = `/trpc/directory.people.list?input=${encodeURIComponent(JSON.stringify(input))}`
    const reply = await world.internal('GET', path, { headers })
    expect([reply.status, reply.body.error.data.error]).toEqual([422, 'invalid_request'])
  })
})
