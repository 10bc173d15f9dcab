import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor'

const root = join(import.meta.dirname, '..')

/** Rolls each entry's types into one file that imports nothing. `entries` has the targets by the declaration in `draft`. */
export function rollUpTypes(project, draft, entries) {
  declare(project, draft)
  let compilerState
  for (const [entry, target] of Object.entries(entries)) {
    const config = configure(draft, entry, target, Object.keys(entries))
    // One program, which takes seconds, for all entries.
    compilerState ??= CompilerState.create(config)
    rollUp(config, compilerState, target)
  }
}

function declare(project, draft) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', project, '--outDir', draft]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}

/** Includes tRPC's types, as its packages ask for TypeScript: 27 MB in addition to a client of 100 kB. */
function configure(draft, entry, target, all) {
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(draft, entry),
      bundledPackages: ['@trpc/server', '@trpc/client'],
      apiReport: { enabled: false },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: join(root, target) },
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: 'nodenext',
            target: 'es2023',
            lib: ['es2023'],
            types: ['node'],
            skipLibCheck: true,
          },
          files: all.map((file) => join(draft, file)),
        },
      },
    },
  })
}

function rollUp(config, compilerState, target) {
  const wrong = []
  Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback(message) {
      // The rest is about release tags and other packages' comments.
      if (message.logLevel === 'error' || message.category === 'Compiler') wrong.push(message.text)
      message.logLevel = 'none'
    },
  })
  const types = readFileSync(join(root, target), 'utf8')
  const imports = types.match(/^(?:import|export) .*\bfrom .*|\bimport\(.*/gm) ?? []
  if (wrong.length + imports.length > 0) {
    throw new Error(`${target} does not stand alone:\n${[...wrong, ...imports].join('\n')}\n`)
  }
  // TypeScript indents by four spaces, a third of the first-party client's types.
  const indented = types.replace(/^(?: {4})+/gm, (spaces) => spaces.slice(spaces.length / 2))
  writeFileSync(join(root, target), indented)
}
