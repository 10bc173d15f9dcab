import { open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../../prisma/client.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import type { Counted, Erased } from '../../routers/personal-data/erase.ts'
import { erasable, erase } from '../../routers/personal-data/erase.ts'
import { personalDataJson } from '../../routers/personal-data/export.ts'
import { flag, parseAction, text } from './arguments.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { confirm, requireConfirmation } from './confirmation.ts'
import { withDatabase } from './database.ts'
import type { RemovalLog } from './removal-log.ts'
import { openRemovalLog } from './removal-log.ts'

const usage = `Usage:
  npm run -s member -- export --member anna [--out anna.json]
  npm run -s member -- erase --member anna [--yes] [--log FILE]

export writes all data stored about a person as one JSON document, to standard output or a new file.
erase removes all of it, the person, and the published events that name them. Data that apps share in a club stays. Remove the person at the platform first: its
next import would bring them back. --log appends a line to a file for npm run -s removals; keep it apart from the database.
`

const actions = {
  export: { member: text, out: text },
  erase: { member: text, yes: flag, log: text },
} as const

export const run = command(usage, async (argv, io) => {
  const { action, values } = parseAction(argv, actions)
  const { member } = values
  if (!member) throw new UsageError('--member is required.')
  if (action === 'export') {
    await withDatabase(io, (db) => named(member, write(db, member, values.out, io)))
  } else {
    const confirmation = { ...io, yes: values.yes }
    requireConfirmation(confirmation)
    const log = await openRemovalLog(io, values.log)
    await withDatabase(io, (db) => named(member, remove(db, member, confirmation, log))).finally(log.close)
  }
})

/** Names the person in the error message when they do not exist. */
const named = (member: string, work: Promise<void>) =>
  work.catch((error) => {
    throw error instanceof ApiError && error.status === 404 ? new Error(`Person ${member} does not exist.`) : error
  })

/** The file must not exist, and is readable only by its owner; an unfinished one is removed. */
async function write(db: Database, member: string, out: string | undefined, { stdout }: Io) {
  const copyTo = (sink: NodeJS.WritableStream, end: boolean) =>
    db.inTransaction((client) => pipeline(Readable.from(personalDataJson(client, member, new Date())), sink, { end }))
  if (out === undefined) return copyTo(stdout, false)
  const file = (await open(out, 'wx', 0o600)).createWriteStream()
  await copyTo(file, true).catch(async (error) => {
    await rm(out, { force: true })
    throw error
  })
  stdout.write(`${out}: ${file.bytesWritten} bytes\n`)
}

async function remove(db: Database, member: string, io: Io & { yes: boolean | undefined }, log: RemovalLog) {
  io.stdout.write(`To be removed of ${member}:\n${lines(await erasable(db, member))}`)
  await confirm(member, io)
  const removed = await erase(db, member)
  io.stdout.write(`Removed:\n${lines(removed)}`)
  await log.write({ repeat: 'member.erase', person: member }, { removed })
}

const words: Record<keyof Erased, string> = {
  storageEntries: 'private storage entries',
  storageBytes: 'bytes in them',
  memberships: 'memberships',
  groups: 'places in groups',
  competitionResults: 'competition results',
  memberCards: 'member cards',
  quizResults: 'quiz results',
  answers: 'answers in them',
  lessonCompletions: 'completed lessons',
  consents: 'consents',
  signInIdentities: 'sign-in identities',
  teams: 'teams',
  sessions: 'sessions',
  events: 'published events that name them',
}

const lines = (erased: Counted & Partial<Erased>) =>
  Object.entries(erased)
    .map(([name, count]) => `  ${count} ${words[name as keyof Erased]}\n`)
    .join('')
