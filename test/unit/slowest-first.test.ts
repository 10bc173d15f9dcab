import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { slowest } from '../support/slowest-first.ts'

it.each(slowest)('%s, which is begun first, is a test file', (name) => {
  expect(existsSync(new URL(`../${name}.test.ts`, import.meta.url))).toBe(true)
})
