/** An access token, or what gets one: asked before the first call, and with `renew` after the service has refused its token. */
export type Token = string | ((options: { renew: boolean }) => string | Promise<string>)

/** The token of a client, for all its calls. A token is kept until it is refused; an error of the function is not kept. */
export function createTokens(given: Token) {
  const ask = async (renew: boolean) => (typeof given === 'string' ? given : given({ renew }))
  const keep = (asked: Promise<string>) => {
    current = asked
    asked.catch(() => {
      if (current === asked) current = undefined
    })
    return asked
  }
  let current: Promise<string> | undefined

  return {
    current: () => current ?? keep(ask(false)),
    /** Replaces the refused token, once for all calls that had it. Resolves to whether there is another one now. */
    async renew(refused: string): Promise<boolean> {
      const before = current
      if (before && (await before) !== refused) return true
      // Another call may have asked while this one waited.
      const renewed = current === before ? keep(ask(true)) : (current ?? keep(ask(true)))
      return (await renewed) !== refused
    },
  }
}

export type Tokens = ReturnType<typeof createTokens>

/** The token that each attempt at a call was sent with, by the context of the attempt. */
export type SentTokens = WeakMap<Record<string, unknown>, string>
