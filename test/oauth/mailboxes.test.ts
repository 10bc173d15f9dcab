import { domainToASCII } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addInvitation } from '../../routers/developer/teams/invitations.ts'
import { comparableEmail } from '../../routers/kernel/email-address.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { id } from '../support/tenant.ts'
import { codeWorld } from './code-world.ts'
import { createMember } from './members.ts'

const { world } = codeWorld()

/** Signs in with the code that is sent for an address. */
async function signIn(typed: string) {
  const [node, interaction] = [world.startNode(), id('interaction')]
  const before = world.mailServer.mails.length
  expect(await node.send(interaction, typed)).toBe('sent')
  await expect.poll(() => world.mailServer.mails.length + node.errors.length).toBe(before + 1)
  expect(node.errors).toEqual([])
  const { mails } = world.mailServer
  const [code] = await world.mailServer.codesTo(mails.at(-1)!.to[0]!, 1)
  const checked = await node.codes.check(interaction, code!)
  return { to: mails.at(-1)!.to[0]!, checked }
}

describe('a mailbox with several spellings', () => {
  const spellings: [string, (unicode: string, ascii: string) => [stored: string, typed: string]][] = [
    ['an umlaut, typed in a browser', (unicode, ascii) => [`jo@${unicode}`, `jo@${ascii}`]],
    ['punycode, typed in an app', (unicode, ascii) => [`bo@${ascii}`, `bo@${unicode}`]],
    ['capitals', (unicode) => [`INFO@${unicode.toUpperCase()}`, `info@${unicode}`]],
    ['decomposed letters', (unicode) => [`Info@${unicode.normalize('NFD')}`, `info@${unicode}`]],
    ['letters before the @', (_, ascii) => [`jörg@${ascii}`, `JO\u0308RG@${ascii}`]],
  ]
  it.each(spellings)('gets the code, to the address as stored: %s', async (_, of) => {
    const unicode = `${id('müller')}.example`
    const [stored, typed] = of(unicode, domainToASCII(unicode))
    const member = await createMember(world.db, { email: stored })
    const { to, checked } = await signIn(typed)
    expect(comparableEmail(to)).toBe(comparableEmail(stored))
    expect(checked).toMatchObject({ persons: [{ id: member }] })
  })
})

describe('the stored form of a mailbox', () => {
  const mailboxOf = async (person: string) =>
    (await world.db.person.findUniqueOrThrow({ where: { id: person }, select: { mailbox: true } })).mailbox

  it('follows an address that is changed by SQL, and is none for one in ASCII', async () => {
    const own = id('n').replace(/\D/g, '')
    const member = await createMember(world.db, { email: `JÖRG-${own}@example.org` })
    expect(await mailboxOf(member)).toBe(null)
    await signIn(`jörg-${own}@example.org`)
    expect(await mailboxOf(member)).toBe(`jörg-${own}@example.org`)
    await world.db.$executeRaw`UPDATE "Person" SET email = ${`ÄNNE-${own}@example.org`} WHERE id = ${member}`
    expect(await mailboxOf(member)).toBe(null)
    await signIn(`änne-${own}@example.org`)
    expect(await mailboxOf(member)).toBe(`änne-${own}@example.org`)
    const node = world.startNode()
    const before = world.mailServer.mails.length
    expect(await node.send(id('interaction'), `jörg-${own}@example.org`)).toBe('sent')
    await world.db.$executeRaw`UPDATE "Person" SET email = ${`anne-${own}@example.org`} WHERE id = ${member}`
    await signIn(`Anne-${own}@example.org`)
    expect(await mailboxOf(member)).toBe(null)
    expect(world.mailServer.mails.length).toBe(before + 1)
  })

  it('is found by the invitation to a team, and by the erasure', async () => {
    const own = id('n').replace(/\D/g, '')
    const [team, now] = [id('team'), new Date()]
    await world.db.team.create({ data: { id: team, name: 'T', level: 'hobby' } })
    const person = await createMember(world.db, { email: `Jo@Müller-${own}.example` })
    const invite = (email: string) =>
      world.db.$transaction((tx) => addInvitation(tx, { team, email, role: 'developer', by: null, now }))
    await invite(`jo@mu\u0308ller-${own}.example`)
    const { email } = await invite(comparableEmail(`JO@MÜLLER-${own}.EXAMPLE`)!)
    expect(await world.db.teamInvitation.findMany({ where: { teamId: team }, select: { email: true } })).toEqual([
      { email },
    ])
    const { checked } = await signIn(`jo@müller-${own}.example`)
    expect(checked).toMatchObject({ email, persons: [{ id: person }] })
    await erase(world.db, person, [])
    expect(await world.db.teamInvitation.count({ where: { teamId: team } })).toBe(0)
    expect(await world.db.loginCode.count({ where: { email } })).toBe(0)
  })
})
