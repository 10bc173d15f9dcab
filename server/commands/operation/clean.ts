import { randomBytes } from 'node:crypto'
import { openHousekeeping } from '../../../routers/kernel/housekeeping.ts'
import { readSettings, secretsSettings } from '../../process/command-settings.ts'
import { housekeepingTasks } from '../../process/housekeeping.ts'
import { createCipher } from '../../secrets/cipher.ts'
import { existingSecretsKeys } from '../../secrets/keys.ts'
import type { Command } from '../line/command.ts'
import { action } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { table } from '../line/table.ts'

const clean = action(
  {
    async run(_values, io) {
      const config = readSettings(io.env, 'keepDays', 'signingKeyDays', ...secretsSettings)
      // Without the key, no signing key can be identified as retired, so none is removed.
      const cipher = createCipher((await existingSecretsKeys(config)) ?? [randomBytes(32)])
      const faults = new Map<string, string>()
      const failed = (task: string, error: unknown) => faults.set(task, (error as Error).message)
      const removed = await withDatabase(io, (db) =>
        openHousekeeping({ db, tasks: housekeepingTasks(config, cipher), now: Date.now, failed }).clean(),
      )
      return [...removed].map(([task, rows]) => ({ task, rows, fault: faults.get(task) ?? null }))
    },
  },
  {
    json: '[{ task, rows, fault }]',
    text: (removed) => table(removed.map(({ task, rows }) => [[task], [String(rows)]])),
    fault(removed) {
      const faults = removed.flatMap(({ task, fault }) => (fault === null ? [] : `${task} failed: ${fault}`))
      return faults.length > 0 ? faults.join('\n') : undefined
    },
  },
)

export const command: Command = {
  about: `Removes all expired data, and prints the number of rows of each kind. A task that fails
does not stop the others. Running services do the same by themselves each hour.`,
  actions: { '': clean },
  examples: ['clean', 'clean --json'],
}
