import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '../errors.ts'
import { errors } from '../errors.ts'
import { JsonScanner } from './scanner.ts'

/** A value in a body over REST that stays text: read and checked when its procedure asks for it, and never parsed. */
export class RawJson {
  /** A lower bound of the value's bytes; 0 while its size is unknown. */
  readonly minBytes: number
  readonly read: () => Promise<string>

  constructor(minBytes: number, read: () => Promise<string>) {
    this.minBytes = minBytes
    this.read = read
  }
}

/** Limit on arrays and objects inside one another within a value. */
export const MAX_NESTING = 256

/** How much is checked before other requests get their turn: about 3 ms. */
const SLICE_BYTES = 256 * 1024

/** The errors of the field that a value came in. */
interface FieldErrors {
  missing: () => ApiError
  notJson: () => ApiError
  tooDeep: () => ApiError
}

const valueErrors: FieldErrors = {
  missing: errors.valueMissing,
  notJson: errors.valueNotJson,
  tooDeep: errors.valueTooDeep,
}

/**
 * The JSON text to store: as received over REST; what JSON.stringify makes of a value that came parsed or from this
 * process. Throws 400.
 */
export async function rawJsonOf(value: unknown, fieldErrors = valueErrors): Promise<string> {
  if (value instanceof RawJson) return value.read()
  // JSON.stringify takes 1 MiB of brackets in 50 ms: a turn of the event loop of its own.
  await setImmediate()
  const text = serialise(value, fieldErrors)
  if ((await nestingOf(text)) > MAX_NESTING) throw fieldErrors.tooDeep()
  return text
}

/** Throws 400 for what JSON.stringify drops or fails on: BigInt, circles, a toJSON that throws, endless nesting. */
function serialise(value: unknown, { missing, notJson, tooDeep }: FieldErrors): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    // Of the call stack.
    throw error instanceof RangeError ? tooDeep() : notJson()
  }
  if (text === undefined) throw missing()
  return text
}

async function nestingOf(text: string): Promise<number> {
  const scanner = new JsonScanner(Buffer.from(text))
  for (scanner.read(SLICE_BYTES); scanner.pending; scanner.read(SLICE_BYTES)) await setImmediate()
  return scanner.nesting
}
