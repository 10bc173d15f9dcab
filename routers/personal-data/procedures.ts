import { z } from 'zod'
import { isPostgresText } from '../kernel/access.ts'
import { memberMarks } from '../kernel/cipher.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { fillMailboxes } from '../kernel/mailboxes.ts'
import { directoryPlatform } from '../kernel/policies.ts'
import { erase } from './erase.ts'
import { exportedBytes, personalDataJson } from './export.ts'
import type { PersonalData } from './sections.ts'

/** Per call; `member-apps member` has no limit. */
const MAX_BYTES = 16 * 1024 * 1024

/** Smaller answers need no reserved memory. */
const LARGE_BYTES = 1024 * 1024

const person = z.object({ id: z.string().refine(isPostgresText, withError('personUnknown')) })

const erased = z.object({
  storageEntries: z.int(),
  storageBytes: z.int(),
  memberships: z.int(),
  groups: z.int(),
  competitionResults: z.int(),
  memberCards: z.int(),
  quizResults: z.int(),
  answers: z.int(),
  lessonCompletions: z.int(),
  consents: z.int(),
  signInIdentities: z.int(),
  teams: z.int(),
  sessions: z.int(),
  events: z.int(),
})

/** The procedures about a person's own data, beside those of `directory.people`. */
export const personalData = {
  export: internal('directory:read', directoryPlatform, { summary: 'Everything that is stored about a person' })
    .input(person)
    .output(z.custom<PersonalData>())
    .query(async ({ ctx: { core, call }, input: { id } }) => {
      const [{ bytes } = { bytes: 0 }] = await core.db.execute(exportedBytes, { person: id })
      if (bytes > MAX_BYTES) throw errors.exportTooLarge()
      if (bytes > LARGE_BYTES) await call.reserve(bytes)
      await fillMailboxes(core.db)
      const pieces: string[] = []
      await core.db.inTransaction(async (client) => {
        for await (const piece of personalDataJson(client, id, new Date(core.now()))) pieces.push(piece)
      })
      return call.json(pieces)
    }),

  erase: internal('directory:write', directoryPlatform, { summary: 'Removes a person and everything about them' })
    .input(person)
    .output(z.object({ removed: erased }))
    .mutation(async ({ ctx: { core }, input: { id } }) => {
      const removed = await erase(core.db, id, memberMarks(core.cipher, id))
      core.due.wake()
      core.removed({ repeat: 'member.erase', person: id }, { removed })
      return { removed }
    }),
}
