const LIMIT_BYTES = 256 * 1024

/** `fetch` that rejects a body of more than 256 KiB without reading on: what another issuer sends is kept in memory. */
export async function boundedFetch(address: string, options: RequestInit): Promise<Response> {
  const { body, status, statusText, headers } = await fetch(address, options)
  const bytes = body && (await readBytes(body))
  return new Response(bytes, { status, statusText, headers })
}

async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > LIMIT_BYTES) throw new Error(`it has more than ${LIMIT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
