import { emailCodes } from '../../server/browser/login/email-code.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { started } from '../support/started.ts'
import { sharedDatabase } from '../support/world.ts'
import { startAuthWorld } from './auth-world.ts'
import { anyAddress, FROM } from './code-world.ts'
import { startMailServer } from './mail-server.ts'

async function start() {
  const mailServer = await startMailServer()
  const sendMail = createMailer(mailServer.url, FROM)
  const limits = memoryLimits(() => 0)
  const codes = emailCodes({ db: sharedDatabase(), now: Date.now, sendMail, onError: () => {}, limits })
  const service = await startAuthWorld({ auth: { codes, developmentLogin: false }, trustedProxies: ['127.0.0.1'] })
  return {
    mailServer,
    service,
    /** A browser in a network of its own. */
    arrive() {
      const browser = service.newBrowser()
      browser.headers = { 'x-forwarded-for': anyAddress() }
      return browser
    },
    async close() {
      await service.world.close()
      await mailServer.close()
    },
  }
}

/** One for all tests of a file: a service in which members sign in with mailed codes alone. */
export const mailedCodeWorld = () => started(start, ({ close }) => close())
