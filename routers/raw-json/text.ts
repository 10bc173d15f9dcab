import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '../errors.ts'
import { errors } from '../errors.ts'

/** JSON as the text it came as: over REST a value reaches its procedure checked, but never parsed. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Limit on arrays and objects inside one another within a value. */
export const MAX_NESTING = 256

/** The errors of the field that a value came in. */
interface FieldErrors {
  notJson: () => ApiError
  tooDeep: () => ApiError
}

const valueErrors: FieldErrors = { notJson: errors.valueNotJson, tooDeep: errors.valueTooDeep }

/**
 * The JSON text to store: as received over REST; serialised where the value came parsed, over tRPC or in this process.
 * Throws 400. Checking and serialising 1 MiB of brackets take 50 ms each, so each has a turn of the event loop.
 */
export async function rawJsonOf(value: unknown, fieldErrors = valueErrors): Promise<string> {
  if (value instanceof RawJson) return value.text
  await setImmediate()
  check(value, 0, fieldErrors)
  await setImmediate()
  return JSON.stringify(value)
}

/** Refuses values that JSON.stringify would drop or fail on. Ends on circular values, at the nesting limit. */
function check(value: unknown, nesting: number, fieldErrors: FieldErrors): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number' && Number.isFinite(value)) return
  if (typeof value !== 'object' || !isPlain(value)) throw fieldErrors.notJson()
  if (nesting === MAX_NESTING) throw fieldErrors.tooDeep()
  if (Array.isArray(value)) for (const inner of value) check(inner, nesting + 1, fieldErrors)
  // Object.values takes four times as long on objects with many keys.
  else for (const key of Object.keys(value)) check((value as Record<string, unknown>)[key], nesting + 1, fieldErrors)
}

/** False for a Date, a Map or a class instance: JSON.stringify would turn it into something else. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
