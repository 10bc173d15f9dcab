/**
 * Returns null if the text is not a valid URL. URL.canParse is unusable on Node 20 and 22: after some 5,000 calls, once V8 has
 * compiled a caller, it refuses all text with Latin-1 characters, such as `https://bücher.example/`.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
