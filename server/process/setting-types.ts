import { isIP } from 'node:net'
import { z } from 'zod'
import { isSecure } from '../tokens/jwks-discovery.ts'
import { isLoopback } from '../tokens/loopback.ts'
import { isNetwork } from '../webhooks/send/addresses.ts'

/** What the values of settings have to be; each error message completes `NAME: `. */

export const port = z.coerce.number('a port number').int('a port number').min(0).max(65535)
export const host = z
  .string()
  .refine((text) => isIP(text) !== 0, 'an IP address of this machine, or :: for every interface')
export const positive = z.coerce.number('a number of bytes').int('a whole number of bytes').min(1)

/** The documents: a base URL ends with the version segment. The sections differ by host. */
export const baseUrl = z
  .url({ protocol: /^https?$/, error: 'an http(s) address' })
  .refine((text) => /^https?:\/\/[^/?#]+\/v1$/.test(text), 'an address of the form https://host/v1')

/** One key or several: the first encrypts, all of them decrypt. */
export const secretsKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => Buffer.from(key, 'base64')))
  .refine(
    (keys) => keys.every(({ length }) => length === 32),
    '32 bytes in base64, as `openssl rand -base64 32` prints; several are separated by commas',
  )

export const databaseUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'a postgresql:// address' })

export const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: 'an smtp:// or smtps:// address' })
  .refine((text) => new URL(text).hostname !== '', 'an smtp:// or smtps:// address')

/** As in the header `From`: an address, or `Name <address>`. */
export const sender = z
  .string()
  .regex(/^(?:[^<>@\p{C}]*<[^\s<>@\p{C}]+@[^\s<>@\p{C}]+>|[^\s<>@\p{C}]+@[^\s<>@\p{C}]+)$/u, {
    error: 'an e-mail address, or a name and <an e-mail address>',
  })

/** Members sign in there: nobody on the way may answer in its place. */
export const loginIssuer = z.url({ protocol: /^https?$/, error: 'an https address' }).refine((text) => {
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}, 'an https address; http is for this machine only')

export const networks = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .refine(
    (entries) => entries.every(isNetwork),
    'IP addresses and networks, separated by commas: 127.0.0.1,10.20.0.0/16',
  )

export const secureUrl = z.string().refine(isSecure, 'an https address (http for this machine)')
export const issuer = secureUrl.refine((text) => !/[?#]/.test(text), 'an address without a query')
export const name = z.string().min(1)
