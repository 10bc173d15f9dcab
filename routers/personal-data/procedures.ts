import { z } from 'zod'
import { isPostgresText } from '../kernel/access.ts'
import { memberMarks } from '../kernel/cipher.ts'
import type { Call } from '../kernel/context.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { fillMailboxes } from '../kernel/mailboxes.ts'
import { directoryPlatform } from '../kernel/policies.ts'
import { erase } from './erase.ts'
import { personalDataJson, valueBytes } from './export.ts'
import type { PersonalData } from './sections.ts'

/** Per call; `member-apps member` has no limit. */
const MAX_BYTES = 16 * 1024 * 1024

/** Reserved before the export is begun, and at a time while it grows. */
const FIRST_BYTES = 64 * 1024
const MORE_BYTES = 1024 * 1024

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

/** The pieces, within the bound, the memory and the time of a call: throws 413 and 503. */
async function collect(source: AsyncIterable<string>, call: Call, reservedBytes: number): Promise<string[]> {
  const pieces: string[] = []
  let bytes = 0
  let reserved = reservedBytes
  for await (const piece of source) {
    call.deadline?.check()
    bytes += Buffer.byteLength(piece)
    if (bytes > MAX_BYTES) throw errors.exportTooLarge()
    if (bytes > reserved) {
      const more = bytes - reserved + MORE_BYTES
      await call.reserve(more)
      reserved += more
    }
    pieces.push(piece)
  }
  return pieces
}

/** The procedures about a person's own data, beside those of `directory.people`. */
export const personalData = {
  export: internal('directory:read', directoryPlatform, { summary: 'Everything that is stored about a person' })
    .input(person)
    .output(z.custom<PersonalData>())
    .query(async ({ ctx: { core, call }, input: { id } }) => {
      const [{ bytes } = { bytes: 0 }] = await core.db.execute(valueBytes, { person: id })
      if (bytes > MAX_BYTES) throw errors.exportTooLarge()
      // The first reservation may wait: not in the transaction, which holds a connection. Later ones do not.
      const reserved = Math.max(bytes, FIRST_BYTES)
      await call.reserve(reserved)
      await fillMailboxes(core.db)
      return call.json(
        await core.db.inTransaction((client) =>
          collect(personalDataJson(client, id, new Date(core.now())), call, reserved),
        ),
      )
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
