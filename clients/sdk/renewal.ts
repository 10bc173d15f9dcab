/**
 * An access token, or a function that returns one: called before each request, and with the refused token when the service has
 * refused one. It may return the same token until then.
 */
export type Tokens = string | ((refused?: string) => string | Promise<string>)

/**
 * Returns the token after a refused one. Calls that were sent with the same token share a renewal, even those that are refused
 * after it has finished: sharing only a running renewal caused three in place of one.
 */
export function createRenewal(tokens: (refused: string) => string | Promise<string>) {
  let last: { refused: string; next: Promise<string> } | undefined
  return (refused: string): Promise<string> => {
    if (last?.refused === refused) return last.next
    const begun = { refused, next: (async () => tokens(refused))() }
    last = begun
    begun.next.catch(() => {
      if (last === begun) last = undefined
    })
    return begun.next
  }
}
