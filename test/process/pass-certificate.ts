import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AtEnd } from '../support/databases.ts'

const [TYPE, TEAM] = ['pass.org.example.card', 'ABCDE12345']

/** A certificate for passes, of an authority of its own. */
export function createPassCertificate(atEnd: AtEnd) {
  const folder = mkdtempSync(join(tmpdir(), 'passes-'))
  atEnd(async () => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const rsa = ['-newkey', 'rsa:2048', '-nodes']
  openssl('req', '-x509', ...rsa, '-keyout', 'wwdr.key', '-out', 'wwdr.pem', '-subj', '/CN=Own authority', '-days', '2')
  openssl('req', ...rsa, '-keyout', 'pass.key', '-out', 'pass.csr', '-subj', `/UID=${TYPE}/CN=Pass`)
  const signed = ['-req', '-in', 'pass.csr', '-CA', 'wwdr.pem', '-CAkey', 'wwdr.key', '-CAcreateserial']
  openssl('x509', ...signed, '-out', 'pass.pem', '-days', '2')
  const settings = { certificate: at('pass.pem'), key: at('pass.key'), wwdr: at('wwdr.pem'), type: TYPE, team: TEAM }
  const env = {
    APPLE_PASS_CERTIFICATE: settings.certificate,
    APPLE_PASS_KEY: settings.key,
    APPLE_PASS_WWDR: settings.wwdr,
    APPLE_PASS_TYPE: TYPE,
    APPLE_TEAM: TEAM,
  }
  return { folder, at, openssl, rsa, signed, settings, env }
}
