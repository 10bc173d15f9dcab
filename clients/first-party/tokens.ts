/**
 * An access token, or a function that gets one: called before the first call, and with `renew` after the service has refused its
 * token.
 */
export type Token = string | ((options: { renew: boolean }) => string | Promise<string>)

/** Identified by its context, as each call has its own. */
interface Call {
  context: object
}

/** A client's token, for all its calls. It is reused until it is refused; a failure of the function is not cached. */
export function createTokens(given: Token) {
  let current: Promise<string> | undefined
  const sent = new WeakMap<object, Promise<string>>()
  /** Calls whose token was renewed, and not accepted since. */
  const renewed = new WeakSet<object>()
  const ask = (renew: boolean) => {
    const asked = (async () => (typeof given === 'string' ? given : given({ renew })))()
    asked.catch(() => {
      if (current === asked) current = undefined
    })
    current = asked
    return asked
  }
  /** Gets another token, once for all calls that were sent with the refused one. Returns whether it can. */
  const renew = ({ context }: Call): boolean => {
    if (typeof given === 'string') return false
    if (current === undefined || current === sent.get(context)) ask(true)
    return true
  }
  return {
    async buildHeaders(calls: readonly Call[]) {
      const token = current ?? ask(false)
      for (const { context } of calls) sent.set(context, token)
      return { authorization: `Bearer ${await token}` }
    },
    renew,
    /** Once until a token of the call is accepted: a subscription outlives any number of tokens. */
    renewOnce(call: Call): boolean {
      if (renewed.has(call.context)) return false
      renewed.add(call.context)
      return renew(call)
    },
    accepted: ({ context }: Call): void => void renewed.delete(context),
  }
}

export type Tokens = ReturnType<typeof createTokens>
