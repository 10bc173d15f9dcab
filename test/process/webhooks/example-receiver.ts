import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { selfSigned } from '../../webhooks/receiver.ts'
import { run, until } from '../service.ts'

export const program = fileURLToPath(new URL('../../../examples/webhook-receiver/receiver.js', import.meta.url))

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Starts the example as a process and waits until it listens. */
export async function startExample() {
  const { key, cert } = await selfSigned()
  const directory = await temporaryDirectory()
  const [TLS_KEY, TLS_CERT] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  await Promise.all([writeFile(TLS_KEY, key), writeFile(TLS_CERT, cert)])
  const example = run([program], { WEBHOOK_SECRET: secret, TLS_KEY, TLS_CERT, PORT: '0' })
  onTestFinished(async () => {
    example.child.kill()
    await example.ended
  })
  const output = await until(
    async () => (example.child.exitCode === null ? example.stdout() : example.stderr()),
    (text) => text.includes('\n'),
  )
  const [, url] = /^Receiving at (https:\S+)\n$/.exec(output) ?? []
  if (url === undefined) throw new Error(`The example did not start: ${output}`)
  return { url, ca: cert, certificate: TLS_CERT, events: () => example.stdout().split('\n').slice(1, -1) }
}
