import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parts } from '../../verify/parts.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

it('each folder of test/verify is run by one part, which has its name', () => {
  const folders = readdirSync(`${root}test/verify`, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const run = parts.flatMap(({ name, commands }) =>
    commands.flatMap((command) =>
      [...command.matchAll(/ test\/verify\/(\w+)\/ /g)].map(([, folder]) => [name, folder]),
    ),
  )
  expect(run.toSorted()).toEqual(folders.map(({ name }) => [name, name]).toSorted())
})

it('test/verify/README.md has a row for each part, with what it proves', () => {
  const page = readFileSync(`${root}test/verify/README.md`, 'utf8')
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\w+) \| (\d+) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  expect(rows).toEqual(parts.map(({ name, kind, minutes, proves }) => [name, kind, String(minutes), proves]))
})
