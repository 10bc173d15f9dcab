import { errors } from '../../../routers/kernel/errors.ts'
import { formatLabel, labelItems } from '../../../routers/kernel/labels.ts'
import { findCard, findShownCard } from '../../../routers/me/member-card.ts'
import { CARD } from '../../browser/addresses.ts'
import { pageContext } from '../../browser/page-context.ts'
import { sendPage } from '../../browser/send-page.ts'
import { toNetwork } from '../../http/client-address.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { listOrganisations } from '../consents/consents.ts'
import { memberPage } from './member-page.ts'
import type { PageOptions } from './page-options.ts'
import { checkedPage, ownCardsPage } from './views/card.ts'

/** Checks per minute and network: the doors of a hall may share one. */
export const MAX_CHECKS = 300

/**
 * The cards of a member who has signed in, and the page that a stranger opens by the code of one, below the path of AUTH_BASE_URL.
 * Codes that are not genuine, and those of cards that no longer exist, get one answer; only genuine ones reach the database.
 */
export function addCardPages(options: PageOptions, basePath: string) {
  const { db, now, pages, limits, cards } = options
  const { shown, addRoutes } = memberPage(options, '/card', 'cards')
  const isWithinLimit = requestLimit(limits, 'card-checks', MAX_CHECKS)

  const list = shown(async (ctx, member) => {
    const own = []
    const clubs = await listOrganisations(db, member.id, ['club'], now())
    const labels = labelItems(clubs)
    for (const club of clubs) {
      const found = await findCard({ db, now }, { club: club.id, member: member.id })
      if (!found) continue
      const card = { ...found, club: formatLabel(club) }
      own.push({ ...card, club: labels.get(club.id)!, url: card.valid ? (await cards.sign(card)).url : undefined })
    }
    sendPage(ctx, ownCardsPage({ ...pageContext(ctx), member: member.name, cards: own }))
  })
  addRoutes({ gets: { '': list }, posts: {} })

  const check = async (ctx: StepContext) => {
    ctx.set('X-Robots-Tag', 'noindex')
    if (!(await isWithinLimit(toNetwork(ctx.state.clientAddress ?? '')))) throw errors.peopleLimited(60)
    const hash = await cards.readHash(String((ctx as { params?: { uid?: string } }).params?.uid))
    const card = hash && (await findShownCard({ db, now }, hash))
    sendPage(ctx, checkedPage({ ...pageContext(ctx), card }), card ? 200 : 404)
    ctx.set('Referrer-Policy', 'no-referrer')
  }
  pages.page('get', `${CARD}:uid`, check, basePath)
}
