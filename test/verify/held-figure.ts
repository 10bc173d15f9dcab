import { expect } from 'vitest'
import { noteFigure } from './noted-figure.ts'

/** Notes a figure, and fails the test, which goes on, unless it is below its bound. */
export function holdFigure(name: string, value: number, unit: string, bound: number) {
  noteFigure({ name, value, unit, bound })
  expect.soft(value, name).toBeLessThan(bound)
}
