import { characterSentence, textFault } from '../../../routers/kernel/text-input.ts'
import { UsageError } from './command.ts'

const MAX_REASON = 1000

/** Why the operator refuses, for those who asked. */
export function parseReason(reason: string): string {
  const fault = textFault(reason, MAX_REASON)
  if (!fault) return reason
  throw new UsageError(
    `--reason ${characterSentence(fault) ?? `must be 1 to ${MAX_REASON} characters, without control characters.`}`,
  )
}

export function parseNumber(name: string, given: string | undefined) {
  const number = given === undefined ? undefined : Number(given)
  if (number !== undefined && !Number.isInteger(number)) throw new UsageError(`--${name} must be a number.`)
  return number
}
