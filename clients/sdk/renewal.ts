/**
 * An access token, or what gives one: asked before each request, and with the refused token when the service has refused
 * one. It may give the same token until then.
 */
export type Tokens = string | ((refused?: string) => string | Promise<string>)

/**
 * The token after a refused one. Calls that were sent with the same token get the same answer, also those that are refused
 * after it has come: sharing a renewal only while it runs made three of one.
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
