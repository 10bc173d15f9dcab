import type { Context } from '../kernel/context.ts'
import type { JsonText } from '../kernel/raw-json/text.ts'
import { textOrBytes } from '../kernel/raw-json/text-or-bytes.ts'
import type { Held } from '../kernel/shared-readings.ts'
import type { ChangeAt, Position } from '../storage/changes.ts'
import type { Collection } from '../storage/statements.ts'
import { changeText } from './change-text.ts'
import { sharedChanges } from './shared-changes.ts'

/** At most 100 changes. A page of more than one change has at most 256 KiB of values. */
const PAGE = { limit: 100, pageBytes: 256 * 1024 }

/** Larger pages are counted, as answers are. */
const FREE_BYTES = 64 * 1024

/** Up to this length each reader copies an event into one text with its id; larger ones are sent from the shared bytes. */
const MAX_TEXT = 1024

export interface StreamEvent {
  /** JSON on one line, the same for all readers. */
  text: JsonText
  /** The position after it. */
  at: Position
}

export interface StreamPage {
  events: StreamEvent[]
  next: Position
  more: boolean
}

/**
 * The changes after `since`, read and rendered once for all readers of a node: 100 streams of a value of 10 MB hold it once. `more`:
 * the page before had more, so this one is expected to be full.
 */
export function streamPage(
  ctx: Context,
  at: Collection,
  { since, more, round }: { since: Position | undefined; more: boolean; round: number },
): Promise<Held<StreamPage>> {
  const expectedBytes = more ? PAGE.pageBytes : 0
  const wanted = { since, round, ...PAGE, freeBytes: FREE_BYTES, expectedBytes }
  return sharedChanges(ctx, at, wanted, async ({ changes, next, more }) => ({
    events: await Promise.all(changes.map(buildEvent)),
    next,
    more,
  }))
}

async function buildEvent(change: ChangeAt): Promise<StreamEvent> {
  return { text: await textOrBytes(changeText(change).map(oneLine), MAX_TEXT), at: change.at }
}

/** Line breaks outside of strings are white space; within them they are escaped. */
const oneLine = (text: string) => text.replace(/[\r\n]/g, ' ')
