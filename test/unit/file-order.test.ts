import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { slowest, waiting } from '../support/file-order.ts'

it.each([...slowest, ...waiting])('%s, which has a place in the order, is a test file', (name) => {
  expect(existsSync(new URL(`../${name}.test.ts`, import.meta.url))).toBe(true)
})
