import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { importWorld } from './import-world.ts'

const file = join(import.meta.dirname, '../../docs/import.md')
/** Blocks with a file's name are files; a command is followed by what it prints. */
const BLOCK = /^```(\w+)(?: (\S+))?\n(.*?)^```$/gms

const timeless = (text: string) => text.replace(/ in \d+\.\d s$/gm, ' in 0.0 s')

it('the files and commands of docs/import.md do what it says', async () => {
  const { run, write, column } = await importWorld()
  const blocks = [...(await readFile(file, 'utf8')).matchAll(BLOCK)].map(([, language, name, text]) => ({
    language,
    name,
    text: text!,
  }))
  const files = blocks.filter(({ name }) => name !== undefined)
  await write(Object.fromEntries(files.map(({ name, text }) => [name, text])))
  const commands = blocks.flatMap(({ language, text }, i) =>
    language === 'sh'
      ? [{ args: text.trim().replace('member-apps import ', '').split(' '), printed: blocks[i + 1]!.text }]
      : [],
  )
  const codes: number[] = []
  for (const { args, printed } of commands) {
    const { code, stdout, stderr } = await run(args)
    expect([stdout, timeless(stderr)]).toContain(printed)
    codes.push(code)
  }
  expect(codes).toEqual([0, 1, 1])
  expect((await run(['memberCards.csv'])).code).toBe(0)
  expect(await column('SELECT array_to_json(departments)::text FROM "MemberCard" ORDER BY serial')).toEqual([
    '["Rowing","Sailing"]',
    '["Rowing; under 18"]',
  ])
  expect(await column('SELECT extract(epoch FROM "leftAt")::int FROM "Membership" ORDER BY "personId"')).toEqual([
    null,
    Date.UTC(2026, 5, 30, 21, 59, 59) / 1000,
  ])
})
