import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '../errors.ts'
import { errors } from '../errors.ts'
import { JsonScanner, SLICE_BYTES } from './scanner.ts'

/** JSON that is never parsed: a string, or UTF-8 where it is large. As strings, 5 MB took a PUT 32 ms of CPU, as UTF-8 17. */
export type JsonText = string | Buffer

/**
 * In bytes or characters: a larger value of a body stays UTF-8, and a larger text is rendered in a turn of the event loop of its
 * own.
 */
export const LARGE_TEXT = 256 * 1024

/** Limit on arrays and objects inside one another within a value. */
export const MAX_NESTING = 256

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

/** The JSON text to store of a value that came parsed. Throws 400. */
export const serialiseValue = (value: unknown): Promise<string> => toJson(value, valueErrors)

/** What JSON.stringify makes of a value that came parsed or from this process. Throws 400. */
export async function toJson(value: unknown, fieldErrors: FieldErrors): Promise<string> {
  // JSON.stringify takes 1 MiB of brackets in 50 ms: a turn of the event loop of its own.
  await setImmediate()
  const text = serialise(value, fieldErrors)
  if ((await measureNesting(text)) > MAX_NESTING) throw fieldErrors.tooDeep()
  return text
}

/** Throws 400 for what JSON.stringify drops or fails on: BigInt, circles, a toJSON that throws, endless nesting. */
function serialise(value: unknown, { missing, notJson, tooDeep }: FieldErrors): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    // A RangeError is an overflow of the call stack.
    throw error instanceof RangeError ? tooDeep() : notJson()
  }
  if (text === undefined) throw missing()
  return text
}

/** How many arrays and objects of a JSON text are inside one another. */
export async function measureNesting(text: string): Promise<number> {
  const scanner = new JsonScanner(Buffer.from(text))
  for (scanner.read(SLICE_BYTES); scanner.pending; scanner.read(SLICE_BYTES)) await setImmediate()
  return scanner.nesting
}
