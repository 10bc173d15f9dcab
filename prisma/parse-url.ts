/**
 * Null for what is no URL. In place of URL.canParse, which on Node 20 and 22 refuses every address with a Latin-1 character, as
 * `https://bücher.example/`, once V8 has compiled a caller: after some 5,000 calls.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
