import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { clubsOf } from '../../routers/approvals/of-club.ts'
import { takeMail } from '../../routers/developer/mails/due.ts'
import { addInvitation } from '../../routers/developer/teams/invitations.ts'
import { selectableMembers } from '../../server/browser/login/development.ts'
import { fullNameOf } from '../../server/browser/login/persons.ts'
import { mailWords } from '../../server/mails/message.ts'
import { choicesFor } from '../../server/oauth/consents/consent-choices.ts'
import { consentsOf } from '../../server/oauth/consents/consents.ts'
import { id } from '../support/tenant.ts'
import { codeWorld } from './code-world.ts'

const { world } = codeWorld()

/** A member of these clubs, which are created when they are new. */
async function member(
  data: { firstName?: string; lastName?: string; email?: string; birthday?: Date },
  clubs: string[],
) {
  const person = id('person')
  await world.db.organisation.createMany({
    data: clubs.map((club) => ({ id: club, kind: 'club' as const, name: club.split('-')[0]! })),
    skipDuplicates: true,
  })
  await world.db.person.create({ data: { id: person, firstName: '', lastName: '', email: '', ...data } })
  await world.db.membership.createMany({
    data: clubs.map((organisationId) => ({ organisationId, personId: person, administrator: true })),
  })
  return person
}

async function signIn(email: string) {
  const [node, interaction] = [world.startNode(), id('interaction')]
  expect(await node.send(interaction, email)).toBe('sent')
  const [code] = await world.mailServer.codesTo(email)
  const checked = await node.codes.check(interaction, code!)
  if (typeof checked === 'string') throw new Error(checked)
  return checked.persons
}

const anna = { firstName: 'Anna', lastName: 'Ahlers' }

describe('people who sign in with one address', () => {
  it('are told apart by the year of birth, and by their clubs', async () => {
    const [email, rowers, judo] = [`${id('home')}@example.org`, id('Rowers'), id('Judo')]
    const mother = await member({ ...anna, email, birthday: new Date('1980-05-01') }, [rowers])
    const daughter = await member({ ...anna, email, birthday: new Date('2011-05-01') }, [rowers])
    expect(new Map((await signIn(email)).map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [mother, 'Anna Ahlers (1980)'],
        [daughter, 'Anna Ahlers (2011)'],
      ]),
    )
    const other = `${id('home')}@example.org`
    const first = await member({ ...anna, email: other }, [rowers])
    const second = await member({ ...anna, email: other }, [judo])
    expect(new Map((await signIn(other)).map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [first, 'Anna Ahlers (Rowers)'],
        [second, 'Anna Ahlers (Judo)'],
      ]),
    )
  })

  it('have a label without a name', async () => {
    const email = `${id('home')}@example.org`
    const person = await member({ email, firstName: '\u200b', lastName: '\u00a0' }, [id('Rowers')])
    expect(await signIn(email)).toEqual([{ id: person, name: person }])
    expect(await fullNameOf(world.db, person)).toBe(person)
  })
})

describe('the list of the trial', () => {
  it('has each person with a label of their own', async () => {
    const club = id('Rowers')
    const people = [
      await member({ ...anna, birthday: new Date('1980-05-01') }, [club]),
      await member({ ...anna, birthday: new Date('1980-06-01') }, [club]),
      await member({}, [club]),
    ]
    const labels = (await selectableMembers(world.db)).map(({ name }) => name)
    expect(new Set(labels).size).toBe(labels.length)
    expect(labels).not.toContain('')
    expect(labels).toContain(people[2])
  })
})

describe('clubs of one name', () => {
  it('are told apart on the consent page and for their administrator', async () => {
    const clubs = [id('Rowers'), id('Rowers')].sort()
    const person = await member(anna, clubs)
    const labels = clubs.map((club) => `Rowers (${club})`)
    const [team, client] = [id('team'), id('client')]
    await world.db.team.create({ data: { id: team, name: 'T', level: 'hobby' } })
    await world.db.client.create({ data: { id: client, name: 'C', teamId: team, environment: 'production' } })
    const asked = { person, client, kinds: ['club' as const], clubApproval: false, now: Date.now() }
    expect((await choicesFor(world.db, asked))?.open.map(({ name }) => name)).toEqual(labels)
    expect((await clubsOf(world.db, person, Date.now())).map(({ name }) => name)).toEqual(labels)
    const data = clubs.map((organisationId) => ({
      id: randomUUID(),
      personId: person,
      organisationId,
      clientId: client,
      scopes: ['svc.me.profile:read'],
    }))
    await world.db.consent.createMany({ data })
    const named = (await consentsOf(world.db, person, Date.now())).map(({ organisation }) => organisation)
    expect(named.sort()).toEqual(labels)
  })
})

describe('the mail of an invitation', () => {
  it('names an inviter without a name by the id, in both languages', async () => {
    const [team, at] = [id('team'), new Date(0)]
    const inviter = await member({}, [id('Rowers')])
    await world.db.team.create({ data: { id: team, name: 'T', level: 'hobby' } })
    const email = `${id('new')}@example.org`
    const invitation = { team, email, role: 'owner' as const, by: inviter, now: at }
    await world.db.$transaction((tx) => addInvitation(tx, invitation))
    const mail = await takeMail(world.db, at.getTime())
    expect(mail?.to).toBe(email)
    for (const { invitation } of Object.values(mailWords)) {
      const named = { name: '', team: 'T', brand: undefined, isNew: false, reason: '', count: 1, expiresAt: at }
      const { paragraphs } = invitation({ ...named, isExpired: false }, mail!.invitation!)
      expect(paragraphs[0]!.startsWith(`${inviter} `)).toBe(true)
    }
  })
})
