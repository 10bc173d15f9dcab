import type { Logger } from 'pino'
import type { Core } from '../../routers/kernel/context.ts'
import { toIssuer, upstreamCallback } from '../browser/addresses.ts'
import type { SendMail } from '../browser/login/mail.ts'
import type { Limits } from '../limits/limit.ts'
import { loadPasses } from '../oauth/keys/card-passes.ts'
import { createGet } from '../outgoing/get.ts'
import type { Config } from './config.ts'
import type { SignIn } from './own-issuer.ts'
import type { Store } from './store.ts'

interface Parts {
  core: Core
  secretsKeys: readonly Buffer[]
  limits: Limits
  sendMail: SendMail | undefined
  log: Logger
}

export async function createSignIn(
  config: Config,
  { embedded }: Store,
  { core, secretsKeys, limits, sendMail, log }: Parts,
): Promise<SignIn | undefined> {
  if (config.tokenIssuer !== undefined) return undefined
  const { createLoginMethods } = await import('../browser/login/methods.ts')
  const settings = {
    sendMail,
    upstream: config.login.upstream,
    redirectUri: upstreamCallback(toIssuer(config.authBaseUrl)),
    // Only with an embedded database, and never in production.
    developmentLogin: embedded !== null && !config.production,
  }
  const loginMethods = await createLoginMethods(settings, {
    db: core.db,
    now: core.now,
    limits,
    brand: config.pageBrand.name,
    onError: (error) => log.error({ err: error }, 'a sign-in code could not be sent'),
  })
  // The start does not wait for it.
  loginMethods.upstream
    ?.check()
    .catch(({ message }) => log.warn(`the provider of LOGIN_ISSUER cannot be used: ${message}`))
  const onError = (error: unknown) => log.error({ err: error }, 'the keys that sign tokens')
  const passes = config.applePass ? loadPasses(config.applePass, (sentence) => log.warn(sentence)) : undefined
  const { clubApproval, consentAges, memberMails } = config
  // Anybody may name an address: in production a private one is never connected to.
  const allow = config.production ? [] : config.webhooks.allow
  const documents = config.clientMetadata ? { get: createGet({ allow }) } : undefined
  const decisions = { clubApproval, consentAges, memberMails }
  return { cipher: core.cipher, secretsKeys, loginMethods, ...decisions, documents, passes, onError }
}
