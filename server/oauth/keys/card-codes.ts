import { createHash } from 'node:crypto'
import { errors as jose, jwtVerify, SignJWT } from 'jose'
import type { CardCodes, CodedCard } from '../../../routers/kernel/card-codes.ts'
import { CARD_CODE_SECONDS } from '../../../routers/kernel/card-codes.ts'
import { DAY_SECONDS } from '../../../routers/kernel/time.ts'
import { CARD } from '../../browser/addresses.ts'
import type { SigningKeys } from './signing-keys.ts'

/** As a QR of version 15 with correction level M holds 412 bytes. */
const MAX_URL = 400
/** No token has it, and so none can be taken for a code, nor the other way round. */
const TYPE = 'membercard+jwt'
/** A kid has 8 characters. */
const HEADER = Buffer.from(JSON.stringify({ alg: 'ES256', typ: TYPE, kid: '--------' })).toString('base64url').length
/** 64 bytes in base64url. */
const SIGNATURE = 86
const DOTS = 2

/** A longer serial, in bytes of JSON, is replaced by its hash; so is one that leaves less than this for name and club. */
const MAX_SERIAL = 40
const MIN_NAMES = 24
/** A mark and 16 bytes in base64url: replacing a serial of this length would save nothing. */
const HASH = 23

const MARK = '~'
const ELLIPSIS = '…'

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
const countBytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

/** 16 bytes, as the index of cards has them. */
const hash = (serial: string) => createHash('sha256').update(serial).digest().subarray(0, 16)

/** The text, or with an ellipsis as many of its graphemes as fit. */
function cut(text: string, bytes: number): string {
  if (countBytes(text) <= bytes) return text
  let [kept, used] = ['', countBytes(ELLIPSIS)]
  if (used > bytes) return ''
  for (const { segment } of graphemes.segment(text)) {
    used += countBytes(segment)
    if (used > bytes) break
    kept += segment
  }
  return kept + ELLIPSIS
}

/** The claims of a code in at most this many bytes of JSON. */
export function fitClaims({ serial, name, club, validUntil }: CodedCard, exp: number, bytes: number) {
  const build = (s: string, n = '', c = '') => ({ s, n, c, t: 'valid', e: validUntil, exp })
  const countLeft = (s: string) => bytes - Buffer.byteLength(JSON.stringify(build(s)))
  const length = countBytes(serial)
  const fits = length <= HASH || (length <= MAX_SERIAL && countLeft(serial) >= MIN_NAMES)
  const s = fits && !serial.startsWith(MARK) ? serial : MARK + hash(serial).toString('base64url')
  const left = countLeft(s)
  const n = cut(name, Math.max(Math.floor(left / 2), left - countBytes(club)))
  return build(s, n, cut(club, left - countBytes(n)))
}

interface Options {
  keys: Pick<SigningKeys, 'cards'>
  authBaseUrl: string
  now: () => number
}

export interface OwnCardCodes extends CardCodes {
  /** The hash of the serial of a genuine code that has not expired; else null. Throws 503. */
  readHash: (code: string) => Promise<Buffer | null>
}

/** The codes of cards, whose page is at this address. */
export function cardCodes({ keys: { cards }, authBaseUrl, now }: Options): OwnCardCodes {
  const page = new URL(authBaseUrl).href + CARD
  const bytes = Math.floor(((MAX_URL - page.length - HEADER - SIGNATURE - DOTS) * 3) / 4)
  return {
    async sign(card) {
      const end = Date.parse(card.validUntil) / 1000 + DAY_SECONDS
      const validUntil = Math.min(Math.floor(now() / 1000) + CARD_CODE_SECONDS, end)
      const key = cards.signing()
      const code = await new SignJWT(fitClaims(card, validUntil, bytes))
        .setProtectedHeader({ alg: 'ES256', typ: TYPE, kid: key.kid! })
        .sign(key)
      return { code, url: page + code, validUntil }
    },
    async readHash(code) {
      const rules = { algorithms: ['ES256'], typ: TYPE, requiredClaims: ['s', 'exp'], currentDate: new Date(now()) }
      try {
        const { payload } = await jwtVerify(code, cards.verify, rules)
        const serial = String(payload.s)
        return serial.startsWith(MARK) ? Buffer.from(serial.slice(MARK.length), 'base64url') : hash(serial)
      } catch (error) {
        if (error instanceof jose.JOSEError) return null
        throw error
      }
    },
  }
}
