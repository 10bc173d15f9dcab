import { listFields } from '../../../routers/directory/record-types.ts'
import type { Refusal } from '../../../routers/directory/refusals.ts'
import type { File } from './files.ts'
import { readRows } from './read-rows.ts'
import { encodeLine } from './refusals.ts'
import type { RejectedFile } from './rejected-file.ts'

/** Writes a line of JSON for each refused row. Reads the files again, as a merge stores no records. */
export async function writeRejectedRows(
  rejected: RejectedFile,
  files: readonly File[],
  refused: ReadonlyMap<number, Refusal>,
) {
  if (refused.size === 0) return
  for (const [i, file] of files.entries()) {
    for await (const { line, record } of readRows(file, listFields(file.recordType))) {
      const refusal = refused.get(encodeLine(i, line))
      if (!refusal) continue
      const { field, reason } = refusal
      await rejected.write(
        `${JSON.stringify({ file: file.name, line, kind: file.recordType, field, reason, record })}\n`,
      )
    }
  }
  await rejected.sync()
}
