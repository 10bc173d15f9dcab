import { errors } from '../../routers/kernel/errors.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import { acceptForm, declineForm, invitationPage } from './pages/invitation.ts'

/** Throws 404 for an invitation that the person cannot accept. */
async function readInvitation({ developer, params }: PageRequest) {
  const { items } = await developer.invitations.list()
  const found = items.find(({ id }) => id === params.invitation)
  if (!found) throw errors.invitationUnknown()
  return found
}

const page: Render = async (request) => invitationPage(request, await readInvitation(request))

export function invitationPages({ get, post }: Routes) {
  const own = '/invitations/:invitation'
  get(own, page)
  post(own, page, acceptForm, async ({ developer, params, at }) => {
    const { team } = await developer.invitations.accept({ invitation: params.invitation! })
    return `${at('teams', team.id)}?done=joined`
  })
  post(own, page, declineForm, async ({ developer, params, at }) => {
    await developer.invitations.decline({ invitation: params.invitation! })
    return `${at()}?done=declined`
  })
}
