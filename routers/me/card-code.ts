import { z } from 'zod'
import type { Core } from '../kernel/context.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { formatLabel } from '../kernel/labels.ts'
import { clubMember } from '../kernel/policies.ts'
import { findCard } from './member-card.ts'

/** The member's card with the name of its club. Throws 404 unless it is valid. */
export async function findValidCard(core: Core, of: { club: string; member: string }) {
  const card = await findCard(core, of)
  const organisation = await core.db.organisation.findUnique({ where: { id: of.club }, select: { name: true } })
  if (!card?.valid || !organisation) throw errors.cardUnknown()
  return { ...card, club: formatLabel({ id: of.club, name: organisation.name }) }
}

export const code = endpoint('GET /membercard/code', 'svc.me.membercard:read', clubMember, {
  section: 'sync',
  summary: 'A code of the card',
  description:
    'A code of the card of `me/membercard` while it is valid, to be shown as a QR of `url`: a page that tells whoever scans it whether the card is valid now. `code` is a compact JWS (ES256, `typ` `membercard+jwt`) that can be checked offline with the keys at `/.well-known/membercards` of the host of `url`. `url` has at most 400 characters, so names may be cut, and the serial may be a hash. Reading never issues a card.',
  returns: 'The code and its page.',
  fails: ['cardUnknown', 'cardFormOff'],
})
  .output(
    z
      .object({
        code: z.string().meta({
          description: 'The signed code.',
          examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6Im1lbWJlcmNhcmQrand0In0.eyJzIjoiQy0yMDI2LTAwNDIifQ.c2lnbmF0dXJl'],
        }),
        url: z.url().meta({
          description: 'The page about the card, for a QR.',
          examples: [
            'https://auth.example.org/v1/card/eyJhbGciOiJFUzI1NiIsInR5cCI6Im1lbWJlcmNhcmQrand0In0.eyJzIjoiQy0yMDI2LTAwNDIifQ.c2lnbmF0dXJl',
          ],
        }),
        validUntil: z.int().meta({
          description:
            'When the code expires, in Unix seconds: after 24 hours, or with the last day of the card (UTC).',
          examples: [1777888800],
        }),
      })
      .meta({ title: 'CardCode', description: 'A code of the card.' }),
  )
  .query(async ({ ctx: { core, ...of } }) => {
    const card = await findValidCard(core, of)
    if (!core.cards) throw errors.cardFormOff()
    return core.cards.sign(card)
  })

export const pass = endpoint('GET /membercard/pass', 'svc.me.membercard:read', clubMember, {
  section: 'sync',
  file: { field: 'pass', type: 'application/vnd.apple.pkpass' },
  summary: 'A pass for Apple Wallet',
  description:
    'The card of `me/membercard` while it is valid, with the QR of `membercard/code`. The pass expires with its code: one that is added again replaces it.',
  returns: 'The pass, a signed archive.',
  fails: ['cardUnknown', 'cardFormOff'],
})
  .output(
    z
      .object({ pass: z.base64().meta({ description: 'The pass, in base64.', examples: ['UEsDBAoAAAAAAA=='] }) })
      .meta({ title: 'CardPass', description: 'A pass for Apple Wallet.' }),
  )
  .query(async ({ ctx: { core, ...of } }) => {
    const card = await findValidCard(core, of)
    if (!core.cards?.makePass) throw errors.cardFormOff()
    return { pass: (await core.cards.makePass(card)).toString('base64') }
  })
