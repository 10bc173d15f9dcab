import type { ClientBase } from 'pg'
import { DatabaseError } from 'pg'
import { UNLIMITED } from '../../../prisma/session-limits.ts'
import type { Load, Loaded, LoadOptions } from './load-record-type.ts'
import { loadRecordType } from './load-record-type.ts'

/** The result of each loaded kind, in order, and the kinds that were not begun. */
export interface Outcome {
  loaded: Loaded[]
  notBegun: Load[]
}

const NOTHING = { added: 0, changed: 0, unchanged: 0, ended: 0 }

/** Loads each kind in its own transaction, and stops after one with a fault. */
export async function loadRecordTypes(
  client: ClientBase,
  loads: readonly Load[],
  options: LoadOptions,
): Promise<Outcome> {
  const loaded: Loaded[] = []
  for (const load of loads) {
    const one = await commitRecordType(client, load, options)
    loaded.push(one)
    if (one.fault) break
  }
  return { loaded, notBegun: loads.slice(loaded.length) }
}

/** After an error the connection cannot continue: closing it rolls back. */
async function commitRecordType(client: ClientBase, load: Load, options: LoadOptions): Promise<Loaded> {
  const { recordType } = load
  let committing = false
  try {
    await client.query(`BEGIN; ${UNLIMITED}`)
    const loaded = await loadRecordType(client, load, options)
    options.signal.throwIfAborted()
    if (loaded.fault) {
      await client.query('ROLLBACK')
      return { ...loaded, ...NOTHING, fault: `${loaded.fault} No ${recordType} were written.` }
    }
    committing = true
    await client.query('COMMIT')
    return loaded
  } catch (error) {
    const reason = describeReason(error, options.signal)
    const lost = committing && !(error instanceof DatabaseError)
    const state = lost
      ? `Whether ${recordType} were written is unknown: run the import again.`
      : `No ${recordType} were written.`
    return { kind: recordType, ...NOTHING, refused: 0, fault: `${reason} ${state}` }
  }
}

/** Loads all kinds in one transaction, which is rolled back: each kind finds what the kinds before it would have written. */
export async function tryRecordTypes(
  client: ClientBase,
  loads: readonly Load[],
  options: LoadOptions,
): Promise<Outcome> {
  const loaded: Loaded[] = []
  await client.query(`BEGIN; ${UNLIMITED}`)
  for (const load of loads) {
    try {
      loaded.push(await loadRecordType(client, load, options))
    } catch (error) {
      loaded.push({ kind: load.recordType, ...NOTHING, refused: 0, fault: describeReason(error, options.signal) })
      break
    }
  }
  return { loaded, notBegun: loads.slice(loaded.length) }
}

const describeReason = (error: unknown, signal: AbortSignal) => {
  const { message } = (signal.aborted ? signal.reason : error) as Error
  return /[.?!]$/.test(message) ? message : `${message}.`
}
