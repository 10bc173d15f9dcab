import { open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../../../prisma/client.ts'
import { inTransaction } from '../../../prisma/pg/transaction.ts'
import { ApiError } from '../../../routers/kernel/errors.ts'
import { fillMailboxes } from '../../../routers/kernel/mailboxes.ts'
import type { Counted, Erased } from '../../../routers/personal-data/erase.ts'
import { erasable, erase } from '../../../routers/personal-data/erase.ts'
import { personalDataJson } from '../../../routers/personal-data/export.ts'
import { answerRequest, listOpenRequests } from '../../../routers/personal-data/requests.ts'
import type { ActionIo, Command } from '../line/command.ts'
import { action, log, yes } from '../line/command.ts'
import { confirm, requireConfirmation } from '../line/confirmation.ts'
import { withDatabase, withOwnConnection } from '../line/database.ts'
import type { Reports } from '../line/reports.ts'
import { openReports } from '../line/reports.ts'
import { printable, printableLines } from '../line/table.ts'
import type { RemovalLog } from '../removals/removal-log.ts'
import { openRemovalLog } from '../removals/removal-log.ts'
import { openMarks } from '../removals/removals.ts'

const member = ['--member <MEMBER>', 'the id of a person'] as const

const exportAll = action(
  {
    about: 'writes all data stored about a person as one JSON document',
    declare: (line) =>
      line
        .requiredOption(...member)
        .option('--out <FILE>', 'writes to a new file, readable only by its owner, in place of standard output'),
    run: ({ member, out }, io) => named(member, write(member, out, io)),
  },
  { json: '{ file, bytes }', text: ({ file, bytes }) => `${file}: ${bytes} bytes\n` },
)

const eraseAll = action(
  {
    about: 'removes all of it, the person, and the published events that name them',
    declare: (line) =>
      line
        .requiredOption(...member)
        .option(...yes)
        .option(...log),
    async run({ member, yes, log: path }, io) {
      requireConfirmation({ ...io, yes })
      const reports = openReports(io)
      const log = await openRemovalLog(io, path)
      const removed = withDatabase(io, (db) => named(member, remove(db, member, { ...io, yes }, { log, reports })))
      return { member, removed: await removed.finally(log.close) }
    },
  },
  { json: '{ member, removed }', text: ({ removed }) => `Removed:\n${lines(removed)}` },
)

const requests = action(
  {
    about: 'lists the requests for a copy of data that wait for an answer, the oldest first',
    declare: (line) => line.option('--answered <ID>', 'ends a request that was answered, before listing the others'),
    run: ({ answered }, io) =>
      withDatabase(io, async (db) => {
        if (answered !== undefined) await answerRequest(db, answered, Date.now())
        const open = await listOpenRequests(db)
        return open.map(({ id, personId, requestedAt, deadline }) => ({ id, member: personId, requestedAt, deadline }))
      }),
  },
  {
    json: '[{ id, member, requestedAt, deadline }]',
    text: (open) =>
      open
        .map(
          ({ id, member, deadline }) => `${id}  ${printable(member)}, until ${deadline.toISOString().slice(0, 10)}\n`,
        )
        .join('') || 'Nobody waits for a copy of their data.\n',
  },
)

/** Names the person in the error message when they do not exist. */
const named = <Result>(member: string, work: Promise<Result>) =>
  work.catch((error) => {
    throw error instanceof ApiError && error.status === 404 ? new Error(`Person ${member} does not exist.`) : error
  })

/** An unfinished file is removed. Without one, the document is all that is printed. */
async function write(member: string, out: string | undefined, io: ActionIo) {
  const { document } = io
  const copyTo = (sink: NodeJS.WritableStream, form: (pieces: AsyncIterable<string>) => AsyncIterable<string>) =>
    // The pool closes a connection that is silent in use, as while a reader is slow.
    withOwnConnection(io, async (client, db) => {
      await fillMailboxes(db)
      await inTransaction(client, () =>
        pipeline(Readable.from(form(personalDataJson(client, member, new Date()))), sink, { end: sink !== document }),
      )
    })
  if (out === undefined) {
    await copyTo(document, printed)
    return
  }
  const file = (await open(out, 'wx', 0o600)).createWriteStream()
  await copyTo(file, (pieces) => pieces).catch(async (error) => {
    await rm(out, { force: true })
    throw error
  })
  return { file: out, bytes: file.bytesWritten }
}

/** The same JSON: what is replaced is within strings. */
async function* printed(pieces: AsyncIterable<string>) {
  for await (const piece of pieces) yield printableLines(piece)
}

async function remove(
  db: Database,
  member: string,
  io: ActionIo & { yes: boolean | undefined },
  { log, reports }: { log: RemovalLog; reports: Reports },
) {
  const found = await erasable(db, member)
  const computeMarks = await openMarks(io.env, db)
  await confirm(member, `To be removed of ${member}:\n${lines(found)}`, io)
  const removed = await erase(db, member, computeMarks(member))
  await log.write({ repeat: 'member.erase', person: member }, { removed })
  await reports.due(db)
  return removed
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

export const command: Command = {
  about: `Data that apps share in a club is not erased. Remove the person at the platform first: its next import would bring them
back.`,
  actions: { export: exportAll, erase: eraseAll, requests },
  examples: [
    'member export --member anna',
    'member export --member anna --out anna.json',
    'member erase --member ben --yes --log removals.log',
    'member requests',
  ],
}
