import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

type Value = Html | string | number

/** Text to copy: the script adds a button, which is named by `label`. */
export const copyable = (label: string, text: string) => html`<code data-copy="${label}">${text}</code>`

export const fact = (label: Html | string, value: Value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`

type Facts = readonly (readonly [label: Html | string, value: Value] | false | null)[]

const pairs = (facts: Facts) => facts.map((one) => one && fact(...one))

/** Names with their values. */
export const factList = (facts: Facts) => html`<dl class="facts">${pairs(facts)}</dl>`

/** A few large numbers. */
export const tiles = (facts: Facts) => html`<dl class="tiles">${pairs(facts)}</dl>`
