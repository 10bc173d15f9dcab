import type { AxeResults } from 'axe-core'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Boxes that overflow to the right, and targets too small for a finger, or for a mouse. */
const misfits = `(() => {
  const measureBox = (element) => element.getBoundingClientRect()
  const all = [...document.querySelectorAll('body *')].filter((element) => measureBox(element).width > 1 && !element.closest('.visually-hidden'))
  // A link within a sentence is as high as its line (WCAG 2.2, 2.5.8: inline).
  const isInline = (element) => element.matches('p:not(.links, .after) > a:not(.button), .text :is(p, li, td) a:not(.moved a)')
  // Wide tables and code scroll by themselves.
  const scrolls = (element) => element.parentElement.closest('.scrolls, pre') !== null
  const targets = all.filter((element) => element.matches('button, a, select, input:not(.choice input), .choice') && !isInline(element))
  const least = matchMedia('(pointer: coarse)').matches ? 44 : 36
  return [
    ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []),
    ...all.filter((element) => !scrolls(element) && measureBox(element).right > innerWidth + 0.5 || element.scrollWidth > element.clientWidth + 8 && element.matches('h1, h2, p, button, label')),
    ...targets.filter((element) => measureBox(element).height < least),
  ].map((found) => found.outerHTML ?? found)
})()`

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Expects that a page breaks no rule of WCAG AA and fits its window. The page's context needs `bypassCSP`: axe is a
 * script, which the pages' policy blocks. Of a rule that passes axe names one element only, which costs less. `without` are
 * selectors of boxes whose content is partly scrolled away: axe cannot see the background there.
 */
export async function expectAccessible(page: Page, without: readonly string[] = []) {
  await page.addScriptTag({ content: axe.source })
  const { violations, incomplete, passes } = (await page.evaluate(
    `axe.run(${JSON.stringify({ include: ['html'], exclude: without })}, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations', 'incomplete'] })`,
  )) as AxeResults
  expect(violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))).toEqual([])
  expect(
    incomplete.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html} ${any.map(({ message }) => message)}`),
    ),
  ).toEqual([])
  expect(passes.map(({ id }) => id)).toContain('color-contrast')
  expect(await page.evaluate(misfits)).toEqual([])
}
