import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { listFields } from '../../../routers/directory/record-types.ts'
import type { Refusal } from '../../../routers/directory/refusals.ts'
import type { File } from './files.ts'
import { readRows } from './read-rows.ts'
import { encodeLine } from './refusals.ts'

/** The file of `--skip-refused`: a line of JSON for each refused row. */
export interface RejectedRows {
  add: (files: readonly File[], refused: ReadonlyMap<number, Refusal>) => Promise<void>
  close: () => Promise<void>
}

/** Replaces the file. Throws when it cannot be written. */
export async function openRejectedRows(path: string): Promise<RejectedRows> {
  const handle = await open(path, 'w', 0o600)
  return {
    add: (files, refused) => write(handle, files, refused),
    close: () => handle.close(),
  }
}

/** Reads the files again, as a merge stores no records. */
async function write(handle: FileHandle, files: readonly File[], refused: ReadonlyMap<number, Refusal>) {
  if (refused.size === 0) return
  for (const [i, file] of files.entries()) {
    for await (const { line, record } of readRows(file, listFields(file.recordType))) {
      const refusal = refused.get(encodeLine(i, line))
      if (!refusal) continue
      const { field, reason } = refusal
      await handle.write(`${JSON.stringify({ file: file.name, line, kind: file.recordType, field, reason, record })}\n`)
    }
  }
  await handle.sync()
}
