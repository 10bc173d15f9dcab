import { errors } from '../../routers/kernel/errors.ts'
import { invitationPage } from './pages/invitation.ts'
import type { Routes, Show, Visit } from './visit.ts'

/** Throws 404 for an invitation that the person cannot accept. */
async function invitationOf({ developer, params }: Visit) {
  const { items } = await developer.invitations.list()
  const found = items.find(({ id }) => id === params.invitation)
  if (!found) throw errors.invitationUnknown()
  return found
}

const page: Show = async (visit) => invitationPage(visit, await invitationOf(visit))

export function invitationPages({ get, post }: Routes) {
  const own = '/invitations/:invitation'
  get(own, page)
  post(`${own}/accept`, page, async ({ developer, params, at }) => {
    const { team } = await developer.invitations.accept({ invitation: params.invitation! })
    return `${at('teams', team.id)}?done=joined`
  })
  post(`${own}/decline`, page, async ({ developer, params, at }) => {
    await developer.invitations.decline({ invitation: params.invitation! })
    return `${at()}?done=declined`
  })
}
