// Fails unless the components of an SBOM (CycloneDX) are the packages that ship to production, each with its hash.
import { readFileSync } from 'node:fs'

const [lock, sbom] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const shipped = Object.entries(lock.packages)
  .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
  .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
const names = sbom.components.filter(({ purl, hashes }) => purl && hashes?.length > 0)
const [expected, found] = [shipped, names.map(({ name, version }) => `${name}@${version}`)].map((list) => new Set(list))
const wrong = [
  ...[...expected].filter((one) => !found.has(one)).map((one) => `missing: ${one}\n`),
  ...[...found].filter((one) => !expected.has(one)).map((one) => `does not ship: ${one}\n`),
]
process.stdout.write(`${sbom.bomFormat} ${sbom.specVersion}, ${found.size} components\n${wrong.join('')}`)
process.exit(sbom.bomFormat === 'CycloneDX' && found.size > 0 && wrong.length === 0 ? 0 : 1)
