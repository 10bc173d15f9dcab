import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'

/** Text to copy: the script adds a button, which is named by `label`. */
export const copyable = (label: string, text: string) => html`<code data-copy="${label}">${text}</code>`

export const fact = (label: string, value: Html | string | number) =>
  html`<div><dt>${label}</dt><dd>${value}</dd></div>`
