// Builds the installable packages: each entry's types rolled into one file that imports nothing, and the first-party client's
// program with the parts of @trpc/client and eventsource in it. Argument: a working directory, which the caller removes.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
const draft = process.argv[2]
const own = 'clients/first-party/dist'

const entries = {
  'server/in-process.d.ts': 'dist/types/index.d.ts',
  'clients/first-party/client.d.ts': `${own}/client.d.ts`,
  'clients/sdk/client.d.ts': 'clients/sdk/dist/client.d.ts',
  'clients/sdk/browser.d.ts': 'clients/sdk/dist/browser.d.ts',
  'clients/sdk/webhooks.d.ts': 'clients/sdk/dist/webhooks.d.ts',
}

declare()
let compilerState
for (const [entry, target] of Object.entries(entries)) rollUp(entry, target)
await bundle('clients/first-party/client.ts', `${own}/client.js`)
// The licences must accompany every copy.
for (const [name, target] of [
  ['@trpc/client', 'trpc'],
  ['eventsource', 'eventsource'],
  ['eventsource-parser', 'eventsource-parser'],
]) {
  copyFileSync(join(root, 'node_modules', name, 'LICENSE'), join(root, own, `LICENSE-${target}`))
}

function declare() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', 'tsconfig.types.json', '--outDir', draft]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}

/** Includes tRPC's types, as its packages ask for TypeScript: 27 MB in addition to a client of 100 kB. */
function rollUp(entry, target) {
  const config = ExtractorConfig.prepare({
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
          // The same for each entry, so that one program, which takes seconds, serves them all.
          files: Object.keys(entries).map((file) => join(draft, file)),
        },
      },
    },
  })
  compilerState ??= CompilerState.create(config)
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
  const imports = readFileSync(join(root, target), 'utf8').match(/^(?:import|export) .*\bfrom .*|\bimport\(.*/gm) ?? []
  if (wrong.length + imports.length > 0) {
    throw new Error(`${target} does not stand alone:\n${[...wrong, ...imports].join('\n')}\n`)
  }
}

async function bundle(input, target) {
  const build = await rolldown({
    input: join(root, input),
    platform: 'neutral',
    treeshake: { propertyWriteSideEffects: false },
  })
  mkdirSync(join(root, own), { recursive: true })
  await build.write({ file: join(root, target), comments: { legal: false, jsdoc: false } })
}
