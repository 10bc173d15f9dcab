import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '../errors.ts'
import { errors } from '../errors.ts'

/** JSON as the text it came as. Over REST a value reaches the procedure in this form, checked, and never parsed. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** How many arrays and objects may stand inside one another within a value. */
export const MAX_NESTING = 256

/** What is said of a value that is refused: the rows of the field that it came in. */
interface Refusals {
  notJson: () => ApiError
  tooDeep: () => ApiError
}

const ofValue: Refusals = { notJson: errors.valueNotJson, tooDeep: errors.valueTooDeep }

/**
 * The text to store: as it came over REST; of a parsed value, from tRPC or this process, what stands for it in JSON.
 * Parsing, checking and writing 1 MiB of brackets take 50 ms each: others have their turn in between.
 */
export function rawJsonOf(value: unknown, refusals = ofValue): string | Promise<string> {
  return value instanceof RawJson ? value.text : writtenOut(value, refusals)
}

async function writtenOut(value: unknown, refusals: Refusals): Promise<string> {
  await setImmediate()
  check(value, 0, refusals)
  await setImmediate()
  return JSON.stringify(value)
}

/** Refuses what JSON.stringify would lose silently or fail on. Ends on circles too, at the nesting limit. */
function check(value: unknown, nesting: number, refusals: Refusals): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number' && Number.isFinite(value)) return
  if (typeof value !== 'object' || !isPlain(value)) throw refusals.notJson()
  if (nesting === MAX_NESTING) throw refusals.tooDeep()
  if (Array.isArray(value)) for (const inner of value) check(inner, nesting + 1, refusals)
  // Object.values takes four times as long as this, where the keys are many.
  else for (const key of Object.keys(value)) check((value as Record<string, unknown>)[key], nesting + 1, refusals)
}

/** A Date, a Map, a class of the caller's: JSON.stringify would make something else of them. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
