import { expect, inject, it, onTestFinished } from 'vitest'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { anyEmail, codeWorld } from './code-world.ts'
import { createMember } from './members.ts'

const { world } = codeWorld()

/** The statements of a request up to its response, once the last one that follows has begun. */
async function statementsFor(email: string, last: string): Promise<string[]> {
  const began: string[] = []
  const none = () => {}
  const observer = {
    opened: none,
    waited: none,
    failed: none,
    timedOut: none,
    unconnected: none,
    began: (name: string) => void began.push(name),
  }
  const database = openTestDatabase(inject('databaseUrl'), { observer })
  onTestFinished(() => database.$disconnect())
  const node = world.startNode({ database, sendMail: async () => {} })
  expect(await node.send(id('interaction'), email)).toBe('sent')
  const before = [...began]
  await expect.poll(() => began).toContain(last)
  return before
}

it('requesting a code makes the same statements for an address without a member, and looks for one after the response', async () => {
  const known = anyEmail()
  await createMember(world.db, { email: known })
  const ofKnown = await statementsFor(known, 'login_release_code')
  const ofUnknown = await statementsFor(anyEmail(), 'SELECT TeamInvitation')
  expect(ofKnown).toEqual(ofUnknown)
  expect(ofKnown).toContain('INSERT LoginCode')
  expect(ofKnown.at(-1)).toBe('COMMIT')
})
