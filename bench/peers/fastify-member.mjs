import { int, list, object, text } from './schemas.mjs'

const answers = (schema) => ({ schema: { response: { 200: schema } } })
const items = (properties) => answers(object({ items: list(object(properties)) }))
const schemas = {
  profile: answers(
    object({
      id: text,
      firstName: text,
      lastName: text,
      email: text,
      image: text,
      birthday: { ...text, nullable: true },
    }),
  ),
  groups: items({ id: text, name: text, role: text }),
  events: items({ id: text, title: text, start: int, end: int, location: text }),
  plans: items({ id: text, name: text, category: text, description: text, exerciseCount: int, group: text }),
  competitions: items({
    id: text,
    competitionId: text,
    competition: text,
    disciplineId: text,
    place: int,
    score: { type: 'number' },
    timestamp: int,
  }),
  card: answers(
    object({
      card: {
        ...object({
          serial: text,
          status: text,
          valid: { type: 'boolean' },
          name: text,
          memberNumber: text,
          validUntil: text,
          departments: list(text),
        }),
        nullable: true,
      },
    }),
  ),
}
const all = (...names) => Object.fromEntries(names.map((name) => [name, true]))

const seconds = (date) => Math.floor(date.getTime() / 1000)
const day = (date) => date.toISOString().slice(0, 10)
const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1)

export const memberRoutes = (prisma) => async (app) => {
  app.get('/profile', schemas.profile, async ({ caller }) => {
    const select = all('id', 'firstName', 'lastName', 'email', 'birthday', 'image')
    const person = await prisma.person.findUniqueOrThrow({ where: { id: caller.member }, select })
    return { ...person, birthday: person.birthday && day(person.birthday) }
  })

  app.get('/groups', schemas.groups, async ({ caller }) => {
    const rows = await prisma.groupMembership.findMany({
      where: { personId: caller.member, group: { clubId: caller.club } },
      select: { role: true, group: { select: { id: true, name: true } } },
    })
    const groups = new Map()
    for (const { role, group } of rows) {
      if (role === 'trainer' || !groups.has(group.id)) groups.set(group.id, { ...group, role })
    }
    return { items: [...groups.values()].sort(byName) }
  })

  app.get('/events', schemas.events, async ({ caller }) => {
    const start = new Date()
    const seen = [
      { calendarId: null, groups: { none: {} } },
      { calendar: { visible: true } },
      { groups: { some: { group: { people: { some: { personId: caller.member } } } } } },
    ]
    const found = await prisma.event.findMany({
      where: {
        clubId: caller.club,
        state: 'published',
        end: { gte: start },
        start: { lt: new Date(start.getTime() + 90 * 86_400_000) },
        AND: [{ OR: [{ end: { gt: start } }, { start: { gte: start } }] }, { OR: seen }],
      },
      select: all('id', 'title', 'start', 'end', 'location'),
      orderBy: [{ start: 'asc' }, { end: 'asc' }, { id: 'asc' }],
    })
    return { items: found.map((event) => ({ ...event, start: seconds(event.start), end: seconds(event.end) })) }
  })

  app.get('/trainingplans', schemas.plans, async ({ caller }) => {
    const own = { group: { people: { some: { personId: caller.member } } } }
    const found = await prisma.trainingPlan.findMany({
      where: { clubId: caller.club, assignments: { some: own } },
      select: {
        ...all('id', 'name', 'category', 'description'),
        _count: { select: { exercises: true } },
        assignments: {
          where: own,
          select: {
            groupId: true,
            group: { select: { people: { where: { personId: caller.member }, select: { role: true } } } },
          },
        },
      },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    })
    const isTrained = ({ group }) => (group.people.some(({ role }) => role === 'member') ? 0 : 1)
    return {
      items: found.map(({ _count, assignments, ...plan }) => {
        const [first] = assignments.sort((a, b) => isTrained(a) - isTrained(b) || (a.groupId < b.groupId ? -1 : 1))
        return { ...plan, exerciseCount: _count.exercises, group: first.groupId }
      }),
    }
  })

  app.get('/competitions', schemas.competitions, async ({ caller }) => {
    const { member: personId, club } = caller
    const found = await prisma.competitionResult.findMany({
      where: {
        personId,
        place: { not: null },
        competition: { OR: [{ hostId: club }, { participations: { some: { clubId: club } } }] },
      },
      select: {
        ...all('id', 'competitionId', 'disciplineId', 'place', 'score', 'timestamp'),
        competition: { select: { name: true } },
      },
      orderBy: [{ timestamp: 'desc' }, { id: 'asc' }],
    })
    return {
      items: found.map(({ competition, timestamp, ...result }) => ({
        ...result,
        competition: competition.name,
        timestamp: seconds(timestamp),
      })),
    }
  })

  app.get('/membercard', schemas.card, async ({ caller }) => {
    const found = await prisma.memberCard.findFirst({
      where: { clubId: caller.club, personId: caller.member, validUntil: { not: null } },
      select: all('serial', 'status', 'name', 'memberNumber', 'departments', 'validUntil'),
      orderBy: [{ issuedAt: 'desc' }, { serial: 'desc' }],
    })
    if (!found) return { card: null }
    const validUntil = day(found.validUntil)
    return { card: { ...found, validUntil, valid: found.status === 'valid' && validUntil >= day(new Date()) } }
  })
}
