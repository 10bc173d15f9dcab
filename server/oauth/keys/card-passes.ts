import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import type { CardCodes, CodedCard } from '../../../routers/kernel/card-codes.ts'
import { fromUnix } from '../../../routers/kernel/time.ts'
import { words } from '../../browser/words/words.ts'

/** The files are in PEM; `type` and `team` are as at Apple. */
export interface PassSettings {
  certificate: string
  key: string
  /** Apple's authority. */
  wwdr: string
  type: string
  team: string
}

export type Passes = ReturnType<typeof loadPasses>

/** A pass must have one: 29 by 29 pixels in green. */
const icon = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAB0AAAAdCAIAAADZ8fBYAAAAQ0lEQVR4AbXBAQEAMAiAME4P07yG/XOYgu3NfgLSkIY0pCENaUhDGtKQhjSkIQ1pSEMa0pCGNKQhDWlIQxrSkIY0pHF8CgD20iQYAQAAAABJRU5ErkJggg==',
  'base64',
)

/** Signing in JavaScript takes 10 ms: what a member asks for again within this time is the same. */
const CACHE_MS = 600_000

/** Reads the certificate. Throws one error with a line for each file that cannot be used; `warn` gets that it has expired. */
export function loadPasses({ type, team, ...files }: PassSettings, warn: (sentence: string) => void) {
  const faults: string[] = []
  const read = <T>(name: keyof typeof files, parse: (pem: string) => T): [string, T | undefined] => {
    try {
      const pem = readFileSync(files[name], 'utf8')
      return [pem, parse(pem)]
    } catch (error) {
      faults.push(`APPLE_PASS_${name.toUpperCase()} cannot be used: ${(error as Error).message}`)
      return ['', undefined]
    }
  }
  const [signerCert, certificate] = read('certificate', (pem) => new X509Certificate(pem))
  const [signerKey, key] = read('key', createPrivateKey)
  const [wwdr, authority] = read('wwdr', (pem) => new X509Certificate(pem))
  if (key && key.asymmetricKeyType !== 'rsa') faults.push('APPLE_PASS_KEY cannot be used: it is no RSA key')
  else if (certificate && key && !certificate.checkPrivateKey(key))
    faults.push('APPLE_PASS_KEY is not that of APPLE_PASS_CERTIFICATE')
  if (certificate && authority && !certificate.checkIssued(authority))
    faults.push('APPLE_PASS_WWDR has not issued APPLE_PASS_CERTIFICATE')
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const ends = new Date(certificate!.validTo)
  if (ends.getTime() <= Date.now())
    warn(`APPLE_PASS_CERTIFICATE has expired on ${certificate!.validTo}: passes are refused by Wallet`)

  return (sign: CardCodes['sign']) => {
    const make = async (card: CodedCard): Promise<Buffer> => {
      const { PKPass } = await import('passkit-generator')
      const { url, validUntil } = await sign(card)
      const made = new PKPass(
        { 'icon.png': icon },
        { wwdr, signerCert, signerKey },
        {
          passTypeIdentifier: type,
          teamIdentifier: team,
          organizationName: card.club,
          serialNumber: card.serial,
          description: 'card',
        },
      )
      made.type = 'generic'
      made.primaryFields.push({ key: 'name', label: 'name', value: card.name })
      made.secondaryFields.push(
        { key: 'club', label: 'club', value: card.club },
        { key: 'until', label: 'until', value: card.validUntil },
      )
      // Wallet replaces labels by the texts of the phone's language.
      for (const [language, { card: w, organisation }] of Object.entries(words)) {
        made.localize(language, { card: w.title, name: w.name, club: organisation.club, until: w.until })
      }
      made.setBarcodes({ format: 'PKBarcodeFormatQR', message: url, messageEncoding: 'iso-8859-1' })
      made.setExpirationDate(fromUnix(validUntil))
      return made.getAsBuffer()
    }
    const cache = new LRUCache<string, Buffer, CodedCard>({
      max: 200,
      ttl: CACHE_MS,
      fetchMethod: (_key, _stale, { context }) => make(context),
    })
    return async ({ serial, name, club, validUntil }: CodedCard) => {
      const card = { serial, name, club, validUntil }
      return (await cache.fetch(JSON.stringify(card), { context: card }))!
    }
  }
}
