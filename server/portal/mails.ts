import { Language, MailKind } from '../../prisma/generated/enums.ts'
import { mailsPage } from './pages/mails.ts'
import type { Routes, Show } from './visit.ts'

/** @param isSending Whether this service has a mail server. */
export function mailPages({ get, post }: Routes, isSending: boolean) {
  const page: Show = async (visit) => mailsPage(visit, await visit.developer.mails.get(), isSending)
  get('/mails', page)
  post('/mails/save', page, async ({ developer, at }, form) => {
    const wanted = form.getAll('kind')
    const language = Object.values(Language).find((one) => one === form.get('language')) ?? Language.en
    await developer.mails.set({ language, off: Object.values(MailKind).filter((kind) => !wanted.includes(kind)) })
    return `${at('mails')}?done=saved`
  })
}
