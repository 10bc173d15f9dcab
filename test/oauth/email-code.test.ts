import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import { codeWorld, MINUTE_MS, otherThan } from './code-world.ts'
import { createMember } from './members.ts'

const { world, own } = codeWorld()

describe('a sign-in code', () => {
  it('identifies its member', async () => {
    const { node, email, member, interaction, sent } = own
    const code = await sent()
    expect(code).toMatch(/^\d{8}$/)
    expect(await node.codes.check(interaction, code)).toEqual({ email, persons: [{ id: member, name: 'Mia Member' }] })
  })

  it('may be typed with spaces', async () => {
    const { node, member, interaction, sent } = own
    const code = await sent()
    const typed = ` ${code.slice(0, 4)} ${code.slice(4)} `
    expect(await node.codes.check(interaction, typed)).toMatchObject({ persons: [{ id: member }] })
  })

  it('is stored as a hash only', async () => {
    const { email, interaction, sent } = own
    const code = await sent()
    const row = await world.rowOf(interaction)
    const hash = createHash('sha256').update(`${interaction}:${code}`).digest('hex')
    expect(row).toMatchObject({ email, hash, tries: 0 })
    expect(row!.expiresAt.getTime() - row!.sentAt.getTime()).toBe(10 * MINUTE_MS)
    expect(JSON.stringify(row)).not.toContain(code)
  })

  it('works once for concurrent requests', async () => {
    const { node, interaction, sent } = own
    const code = await sent()
    const nodes = [node, world.startNode()]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => nodes[n % 2]!.codes.check(interaction, code)),
    )
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'codeExpired')).toHaveLength(19)
  })

  it('is refused when it is wrong', async () => {
    const { db } = world
    const { node, member, interaction, sent } = own
    const code = await sent()
    for (const wrong of [otherThan(code), '', code.slice(1), `${code}0`, 'ÄÖÜ', '\0', `0x${code}0`]) {
      const row = await world.rowOf(interaction)
      if (row!.tries === 4) await db.loginCode.update({ where: { interaction }, data: { tries: 0 } })
      expect(await node.codes.check(interaction, wrong)).toBe('codeWrong')
    }
    expect(await node.codes.check(interaction, code)).toMatchObject({ persons: [{ id: member }] })
  })

  it('is void after five wrong tries', async () => {
    const { node, interaction, sent } = own
    const code = await sent()
    for (let n = 1; n <= 5; n++) expect(await node.codes.check(interaction, otherThan(code, n))).toBe('codeWrong')
    expect(await node.codes.check(interaction, code)).toBe('codeExpired')
  })

  it('has five tries, also for concurrent tries on two nodes', async () => {
    const { node, sent } = own
    for (let round = 0; round < times(5, 2); round++) {
      const ownOnes = id('interaction')
      const code = await sent(ownOnes)
      const nodes = [node, world.startNode()]
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => nodes[n % 2]!.codes.check(ownOnes, otherThan(code, n + 1))),
      )
      expect(answers.filter((answer) => answer === 'codeWrong')).toHaveLength(5)
      expect(answers.filter((answer) => answer === 'codeExpired')).toHaveLength(15)
      expect(await world.rowOf(ownOnes)).toMatchObject({ tries: 5 })
    }
  })

  it('works for ten minutes', async () => {
    const { node, member, interaction, sent } = own
    const code = await sent()
    node.offsetMs = 10 * MINUTE_MS + 1
    expect(await node.codes.check(interaction, code)).toBe('codeExpired')
    expect(await world.rowOf(interaction)).toMatchObject({ tries: 0 })
    node.offsetMs = 9 * MINUTE_MS
    expect(await node.codes.check(interaction, code)).toMatchObject({ persons: [{ id: member }] })
  })

  it('works in its own interaction only', async () => {
    const { node, member, interaction, sent } = own
    const code = await sent()
    const other = id('interaction')
    expect(await node.codes.check(other, code)).toBe('codeExpired')
    const second = await sent(other)
    expect(await node.codes.check(other, code)).toBe('codeWrong')
    expect(await node.codes.check(interaction, second)).toBe('codeWrong')
    expect(await node.codes.check(other, second)).toMatchObject({ persons: [{ id: member }] })
  })

  it('replaces the previous one', async () => {
    const { node, member, interaction, sent } = own
    const first = await sent()
    for (let n = 1; n <= 3; n++) await node.codes.check(interaction, otherThan(first, n))
    const second = await sent()
    expect(await world.rowOf(interaction)).toMatchObject({ tries: 0 })
    expect(await node.codes.check(interaction, first)).toBe('codeWrong')
    expect(await node.codes.check(interaction, second)).toMatchObject({ persons: [{ id: member }] })
  })

  it('identifies all members who share the address, in any case', async () => {
    const { db, mailServer } = world
    const { node, email, member, interaction } = own
    const twin = await createMember(db, { email: email.replace('mia', 'MIA'), firstName: 'Ben' })
    await createMember(db, { email, member: false })
    await createMember(db, { email, leftAt: new Date(Date.now() - MINUTE_MS) })
    const staying = await createMember(db, { email, firstName: 'Zoe', leftAt: new Date(Date.now() + 60 * MINUTE_MS) })
    // The mail goes to Ben's spelling, as he is the first by name.
    const to = email.replace('mia', 'MIA')
    expect(await node.send(interaction, `  ${email.replace('m', 'M')} `)).toBe('sent')
    const [code] = await mailServer.codesTo(to)
    expect(await node.codes.check(interaction, code!)).toEqual({
      email,
      persons: [
        { id: twin, name: 'Ben Member' },
        { id: member, name: 'Mia Member' },
        { id: staying, name: 'Zoe Member' },
      ],
    })
  })

  it('is void once the member has left', async () => {
    const { db } = world
    const { node, member, interaction, sent } = own
    const code = await sent()
    await db.membership.updateMany({ where: { personId: member }, data: { leftAt: new Date(Date.now() - 1) } })
    expect(await node.codes.check(interaction, code)).toBe('codeExpired')
  })

  it('is not sent to a look-alike address', async () => {
    const { db, mailServer } = world
    const { node, email, sent } = own
    const kelvin = email.replace('mia', 'miak')
    await createMember(db, { email: kelvin })
    for (const typed of [kelvin.replace('k', '\u212a'), kelvin.replace('k', '_'), kelvin.replace('mia', '%')])
      expect(await node.send(id('interaction'), typed)).toBe('sent')
    await sent()
    expect(mailServer.mails.filter(({ to }) => to[0] === kelvin || /[\u212a%_]/.test(to[0]!))).toEqual([])
  })
})
