import { expect, it } from 'vitest'
import { identityScopes } from '../../routers/kernel/identity-scopes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { MAX_FORM_BYTES } from '../../server/portal/forms/form-size.ts'

const scopes = [...memberScopes, ...identityScopes]
// The longest when escaped: characters of four bytes, and addresses of characters that are no letters.
const [name, purpose] = ['😀'.repeat(100), '😀'.repeat(1_000)]
const uris = Array.from({ length: 50 }, (_, n) => `https://a.example/${n}/`.padEnd(2_048, '~!$&')).join('\r\n')

it.each<[string, [string, string][]]>([
  [
    'a request for production',
    [
      ['version', '999999999'],
      ['name', name],
      ['redirectUris', uris],
      ['devices', 'yes'],
      ...scopes.flatMap((scope): [string, string][] => [
        ['scopes', scope],
        [`purpose.${scope}`, purpose],
      ]),
    ],
  ],
  [
    'the sign-in of a client',
    [
      ['version', '999999999'],
      ['name', name],
      ['redirectUris', uris],
      ['devices', 'yes'],
      ['postLogoutRedirectUris', uris],
      ['idTokenAlgorithm', 'ES256'],
    ],
  ],
])('the longest form of %s fits into the bound', (_, fields) => {
  expect(`${new URLSearchParams(fields)}`.length).toBeLessThanOrEqual(MAX_FORM_BYTES)
  expect(MAX_FORM_BYTES % 1_024).toBe(0)
})
