import { errors } from '../../../routers/kernel/errors.ts'
import { formatLabel } from '../../../routers/kernel/labels.ts'
import { findCard, findShownCard } from '../../../routers/me/member-card.ts'
import { pageContext } from '../../browser/page-context.ts'
import { sendPage } from '../../browser/send-page.ts'
import { toNetwork } from '../../http/client-address.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { listOrganisations } from '../consents/consents.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import { checkedPage, ownCardsPage } from './views/card.ts'

/** Checks per minute and network: the doors of a hall may share one. */
export const MAX_CHECKS = 300

/** The cards of a member who has signed in, and the page that a stranger opens by the code of one. */
export function cardPages(options: PageOptions) {
  const { db, now, pages, limits, cards } = options
  const { findMember, attempt } = memberSignIn(options, `${pages.path}/card`, 'cards')
  const isWithinLimit = requestLimit(limits, 'card-checks', MAX_CHECKS)

  return {
    attempt,
    async own(ctx: StepContext) {
      const member = await findMember(ctx)
      if (!member) return pages.signIn.showForm(ctx, attempt(ctx))
      const own = []
      for (const club of await listOrganisations(db, member.id, ['club'], now())) {
        const card = await findCard({ db, now }, { club: club.id, member: member.id })
        if (!card) continue
        const shown = { ...card, club: formatLabel(club) }
        const url = card.valid ? (await cards.sign(shown)).url : undefined
        own.push({ ...shown, url })
      }
      sendPage(ctx, ownCardsPage({ ...pageContext(ctx), member: member.name, cards: own }))
    },
    /** Codes that are not genuine, and those of cards that no longer exist, get one answer; only genuine ones reach the database. */
    async check(ctx: StepContext, code: string) {
      ctx.set('X-Robots-Tag', 'noindex')
      if (!(await isWithinLimit(toNetwork(ctx.state.clientAddress ?? '')))) throw errors.peopleLimited(60)
      const hash = await cards.readHash(code)
      const card = hash && (await findShownCard({ db, now }, hash))
      sendPage(ctx, checkedPage({ ...pageContext(ctx), card }), card ? 200 : 404)
      ctx.set('Referrer-Policy', 'no-referrer')
    },
  }
}
