// Makes the programs of @member-apps/sdk: an entry each, what they share in a file of its own, and oauth4webapi in them. So
// a page needs no tool to import them. Takes a fifth of a second: a start waits for it, as the sample app is made of them.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
const entry = (name) => [name, join(root, 'clients/sdk', `${name}.ts`)]
const dir = join(root, 'clients/sdk/dist')

const build = await rolldown({
  input: Object.fromEntries(['client', 'browser', 'webhooks'].map(entry)),
  platform: 'neutral',
})
const files = { entryFileNames: '[name].js', chunkFileNames: '[name].js', minifyInternalExports: false }
await build.write({ dir, ...files, comments: { legal: false, jsdoc: false } })
// Its licence asks to be with every copy.
copyFileSync(join(root, 'node_modules/oauth4webapi/LICENSE.md'), join(dir, 'LICENSE-oauth4webapi'))
