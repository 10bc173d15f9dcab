import type { Database } from '../../../prisma/client.ts'
import type { Amount, StorageOwner } from '../../admin/storage-owners.ts'
import { erase, findMissing, readUsage } from '../../admin/storage-owners.ts'
import { readSettings } from '../../process/command-settings.ts'
import type { Command, Line } from '../line/command.ts'
import { action, yes } from '../line/command.ts'
import { confirm, requireConfirmation } from '../line/confirmation.ts'
import { withDatabase } from '../line/database.ts'
import { openReports } from '../line/reports.ts'

const place = (line: Line) =>
  line.requiredOption('--app <APP>', 'the id of an app').requiredOption('--club <CLUB>', 'the id of a club')

const usage = action(
  {
    about: 'shows what an app has stored in a club',
    declare: place,
    async run(owner, io) {
      const { storageQuotaBytes: quotaBytes } = readSettings(io.env, 'storageQuotaBytes')
      return withDatabase(io, async (db) => {
        await requireExisting(db, owner)
        return { ...owner, quotaBytes, ...(await readUsage(db, owner)) }
      })
    },
  },
  {
    json: '{ app, club, quotaBytes, bytes, shared, own, members }',
    text: ({ app, club, quotaBytes, ...used }) =>
      `${app} in ${club}: ${used.bytes} of ${quotaBytes} bytes\n${sharedLine(used)}${ownLine(used)}`,
  },
)

const remove = action(
  {
    about: 'removes it, or the entries of one member',
    declare: (line) =>
      place(line)
        .option('--member <MEMBER>', "removes only this member's entries")
        .option(...yes),
    async run({ app, club, member, yes }, io) {
      requireConfirmation({ ...io, yes })
      const reports = openReports(io)
      const owner = { app, club, member }
      return withDatabase(io, async (db) => {
        await requireExisting(db, owner)
        const used = await readUsage(db, owner)
        const entries = member === undefined ? 'all entries' : `${member}'s own entries`
        const lines = `${member === undefined ? sharedLine(used) : ''}${ownLine(used)}`
        await confirm(app, `To be removed of ${app} in ${club}, ${entries}:\n${lines}`, { ...io, yes })
        const removed = await erase(db, owner)
        await reports.change(db, owner)
        return removed
      })
    },
  },
  { json: '{ entries, bytes }', text: (removed) => `Removed: ${amount(removed)}\n` },
)

async function requireExisting(db: Database, owner: StorageOwner) {
  const missing = await findMissing(db, owner)
  if (missing === 'app') throw new Error(`App ${owner.app} does not exist.`)
  if (missing === 'club') throw new Error(`Club ${owner.club} does not exist.`)
  if (missing === 'member') throw new Error(`Member ${owner.member} does not exist in ${owner.club}.`)
}

type Used = Awaited<ReturnType<typeof readUsage>>

const sharedLine = ({ shared }: Used) => `  shared: ${amount(shared)}\n`
const ownLine = ({ own, members }: Used) =>
  `  members' own: ${amount(own)}, ${members === 1 ? '1 member' : `${members} members`}\n`

const amount = ({ entries, bytes }: Amount) => `${entries} ${entries === 1 ? 'entry' : 'entries'}, ${bytes} bytes`

export const command: Command = {
  about: 'Bytes count as for STORAGE_QUOTA_BYTES.',
  actions: { usage, erase: remove },
  examples: [
    'storage usage --app trainer-app --club riverside',
    'storage usage --app trainer-app --club riverside --json',
    'storage erase --app trainer-app --club riverside --member anna --yes',
    'storage erase --app trainer-app --club riverside --yes',
  ],
}
