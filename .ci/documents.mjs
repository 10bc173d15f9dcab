// Writes the OpenAPI documents into a directory, as a service with its own authorization server serves them, and one with an
// external issuer: `npx tsx .ci/documents.mjs DIRECTORY`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '../rest-facade/openapi.ts'
import { sectionNames } from '../routers/kernel/scopes.ts'

for (const issuer of ['https://auth.member-apps.org/v1/oauth', undefined]) {
  for (const section of sectionNames) {
    const host = `${section}.member-apps.org`
    const served = { urls: [`https://${host}/v1`], host, brand: 'Member apps', issuer }
    const name = `${section}${issuer ? '' : '-external'}.json`
    writeFileSync(join(process.argv[2], name), JSON.stringify(openApiDocument(section, served), null, 2))
  }
}
