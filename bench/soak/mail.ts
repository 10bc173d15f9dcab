import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

/** A mail server that keeps the last sign-in code of each address. */
export async function startMail() {
  const codes = new Map<string, string>()
  const server = new SMTPServer({
    ...{ authOptional: true, hideSTARTTLS: true },
    onData(stream, { envelope }, done) {
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      stream.on('end', () => {
        const [code] = /(?<=\s)\d{8}(?=\s)/.exec(text) ?? []
        for (const { address } of envelope.rcptTo) if (code) codes.set(address, code)
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** The code that was mailed to an address, once it has come. Throws after 20 s. */
    async takeCode(email: string): Promise<string> {
      for (let waited = 0; !codes.has(email); waited += 20) {
        if (waited > 20_000) throw new Error(`No code came to ${email}.`)
        await pause(20)
      }
      const code = codes.get(email)!
      codes.delete(email)
      return code
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
