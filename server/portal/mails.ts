import { portalMails } from '../../routers/developer/mails/member-mails.ts'
import type { Render, Routes } from './page-request.ts'
import { mailsForm, mailsPage } from './pages/mails.ts'

/** @param isSending Whether this service has a mail server. */
export function mailPages({ get, post }: Routes, isSending: boolean) {
  const page: Render = async (request) => mailsPage(request, await request.developer.mails.get(), isSending)
  get('/mails', page)
  post('/mails', page, mailsForm, async ({ developer, at }, { wanted, language }) => {
    await developer.mails.set({
      language,
      off: portalMails.filter((mailType) => !wanted.includes(mailType)),
    })
    return `${at('mails')}?done=saved`
  })
}
