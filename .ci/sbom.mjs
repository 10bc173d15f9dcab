// Prints the part of npm's SBOM (CycloneDX, on standard input) that ships to production. Fails if a package is
// missing, or has no hash.
import { readFileSync } from 'node:fs'
import { shippedIn, toName } from './shipped.mjs'

const sbom = JSON.parse(readFileSync(0, 'utf8'))
const shipped = new Set(shippedIn('.').map(([path, { version }]) => toName(path, version)))
const ships = (ref) => shipped.has(ref) || ref === sbom.metadata.component['bom-ref']
// npm marks packages that dist contains as for development, or optional: all that ship are required.
const components = sbom.components
  .filter((one) => ships(one['bom-ref']))
  .map((one) => ({ ...one, scope: 'required', properties: [] }))
const dependencies = sbom.dependencies
  .filter(({ ref }) => ships(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(ships) }))

const found = new Set(components.filter(({ purl, hashes }) => purl && hashes?.length > 0).map((one) => one['bom-ref']))
const missing = [...shipped].filter((name) => !found.has(name))
process.stderr.write(
  `${sbom.bomFormat} ${sbom.specVersion}, ${found.size} components; missing: ${missing.length} ${missing}\n`,
)
process.stdout.write(JSON.stringify({ ...sbom, components, dependencies }, null, 2))
process.exitCode = found.size > 0 && missing.length === 0 ? 0 : 1
