// Builds the programs of @member-apps/sdk: one per entry and its command, with shared code in a separate file, and oauth4webapi
// bundled, so that a page needs no tool to import them. Takes a fifth of a second: start-up waits for it, as the sample app uses them.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
const entry = (name, file = name) => [name, join(root, 'clients/sdk', `${file}.ts`)]
const dir = join(root, 'clients/sdk/dist')

const build = await rolldown({
  input: Object.fromEntries([entry('client'), entry('browser'), entry('webhooks'), entry('init', 'init/main')]),
  platform: 'neutral',
  external: /^node:/,
})
// One file for whatever entries share: a page without a build step serves it.
const codeSplitting = { groups: [{ name: 'shared', minShareCount: 2 }] }
const files = { entryFileNames: '[name].js', chunkFileNames: '[name].js', codeSplitting, minifyInternalExports: false }
await build.write({ dir, ...files, comments: { legal: false, jsdoc: false } })
// The licence must accompany every copy.
copyFileSync(join(root, 'node_modules/oauth4webapi/LICENSE.md'), join(dir, 'LICENSE-oauth4webapi'))
