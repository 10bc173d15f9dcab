import { errors } from '../kernel/errors.ts'
import { skipSpace, skipValue, walkArray, walkObject } from '../kernel/raw-json/walk.ts'

/** A number and the sum have at most as many digits, and this exponent: so each addition takes the same time. */
const [MAX_DIGITS, MAX_EXPONENT] = [40, 40]

/** The text with the number at the JSON pointer (RFC 6901) replaced by its exact sum with `addend`. Throws 400. */
export function add(text: string, pointer: string, addend: string): string {
  const [start, end] = find(text, pointer)
  return text.slice(0, start) + sum(text.slice(start, end), addend) + text.slice(end)
}

function find(text: string, pointer: string): readonly [start: number, end: number] {
  const names = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  let found: readonly [number, number] | undefined
  const descend = (at: number, depth: number): number => {
    const name = names[depth]
    if (name === undefined) {
      const end = skipValue(text, at)
      found = [at, end]
      return end
    }
    if (text[at] === '[') {
      return walkArray(text, at, (index, valueStart) =>
        String(index) === name ? descend(valueStart, depth + 1) : skipValue(text, valueStart),
      )
    }
    if (text[at] !== '{') return skipValue(text, at)
    let isSeen = false
    return walkObject(text, at, ({ key, valueStart }) => {
      if (key !== name) return skipValue(text, valueStart)
      if (isSeen) throw errors.nameTwice()
      isSeen = true
      return descend(valueStart, depth + 1)
    })
  }
  descend(skipSpace(text, 0), 0)
  if (!found) throw errors.notNumber()
  return found
}

/** `coefficient` times ten to the power of `exponent`. */
interface Decimal {
  coefficient: bigint
  exponent: number
}

function readDecimal(text: string): Decimal {
  const [, sign, whole, fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? refuseNumber()
  const digits = (whole === '0' ? '' : whole!) + fraction
  if (digits.length > MAX_DIGITS || Math.abs(Number(power)) > MAX_EXPONENT) throw errors.numberTooLong()
  return { coefficient: BigInt(`${sign}${digits || 0}`), exponent: Number(power) - fraction.length }
}

function refuseNumber(): never {
  throw errors.notNumber()
}

function sum(text: string, addend: string): string {
  const [a, b] = [readDecimal(text), readDecimal(addend)]
  const exponent = Math.min(a.exponent, b.exponent)
  const scaled = ({ coefficient, exponent: own }: Decimal) => coefficient * 10n ** BigInt(own - exponent)
  return format({ coefficient: scaled(a) + scaled(b), exponent })
}

/** Plain where it has no more digits than may be, otherwise with an exponent. Throws 400 for what has no such form. */
function format({ coefficient, exponent }: Decimal): string {
  const sign = coefficient < 0n ? '-' : ''
  const digits = String(coefficient < 0n ? -coefficient : coefficient)
  const padded =
    exponent < 0 ? digits.padStart(1 - exponent, '0') : digits + '0'.repeat(coefficient === 0n ? 0 : exponent)
  const point = exponent < 0 ? padded.length + exponent : padded.length
  const plain = exponent < 0 ? `${padded.slice(0, point)}.${padded.slice(point)}` : padded
  if (plain.replace(/^0/, '').replace('.', '').length <= MAX_DIGITS) return sign + plain
  const significant = digits.replace(/0+$/, '')
  const power = exponent + digits.length - 1
  if (significant.length > MAX_DIGITS || Math.abs(power) > MAX_EXPONENT) throw errors.numberTooLong()
  return `${sign}${significant[0]}${significant.length > 1 ? `.${significant.slice(1)}` : ''}e${power}`
}
