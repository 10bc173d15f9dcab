// Builds the programs of both packages, and the SDK's types. @member-apps/sdk has one file per entry and its command, with shared
// code in a separate file, and oauth4webapi and uqr bundled, so that a page needs no tool to import them; the first-party client
// has the parts of @trpc/client and eventsource in it. Takes 2 s, beside the bundling of the service, which takes 4 s.
// Argument: a working directory, which the caller removes.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { rollUpTypes } from './types.mjs'

const root = join(import.meta.dirname, '..')
const sdk = 'clients/sdk/dist'
const firstParty = 'clients/first-party/dist'
const entry = (name, file = name) => [name, join(root, 'clients/sdk', `${file}.ts`)]

const build = await rolldown({
  input: Object.fromEntries([
    entry('client'),
    entry('browser'),
    entry('webhooks'),
    entry('card'),
    entry('init', 'init/main'),
  ]),
  platform: 'neutral',
  external: /^node:/,
})
// One file for whatever entries share: a page without a build step serves it.
const codeSplitting = { groups: [{ name: 'shared', minShareCount: 2 }] }
const files = { entryFileNames: '[name].js', chunkFileNames: '[name].js', codeSplitting, minifyInternalExports: false }
const comments = { legal: false, jsdoc: false }
await build.write({ dir: join(root, sdk), ...files, comments })

const client = await rolldown({
  input: join(root, 'clients/first-party/client.ts'),
  platform: 'neutral',
  treeshake: { propertyWriteSideEffects: false },
})
await client.write({ file: join(root, firstParty, 'client.js'), comments })

// The licences must accompany every copy.
for (const [name, target] of [
  ['oauth4webapi/LICENSE.md', `${sdk}/LICENSE-oauth4webapi`],
  ['uqr/LICENSE', `${sdk}/LICENSE-uqr`],
  ['@trpc/client/LICENSE', `${firstParty}/LICENSE-trpc`],
  ['eventsource/LICENSE', `${firstParty}/LICENSE-eventsource`],
  ['eventsource-parser/LICENSE', `${firstParty}/LICENSE-eventsource-parser`],
]) {
  copyFileSync(join(root, 'node_modules', name), join(root, target))
}

rollUpTypes('clients/tsconfig.sdk.json', process.argv[2], {
  'clients/sdk/client.d.ts': `${sdk}/client.d.ts`,
  'clients/sdk/browser.d.ts': `${sdk}/browser.d.ts`,
  'clients/sdk/webhooks.d.ts': `${sdk}/webhooks.d.ts`,
  'clients/sdk/card.d.ts': `${sdk}/card.d.ts`,
})
