import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import type { Words } from './words.ts'

type Placeholder<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

type Values<T extends string, Value> = Readonly<Record<Placeholder<T>, Value>>

const split = (text: string, values: Readonly<Record<string, Html | string | number>>) =>
  text.split(/\{(\w+)\}/).map((piece, at) => (at % 2 === 0 ? piece : values[piece]))

/** A text of the pages with its values. */
export const fill = <const T extends string>(text: T, values: Values<T, Html | string | number>): Html =>
  html`${split(text, values)}`

/** The same for a mail without HTML. */
export const fillText = <const T extends string>(text: T, values: Values<T, string | number>): string =>
  split(text, values).join('')

/** The text for a number in the language's own forms. */
export const plural = <const T extends { one: string; other: string }>(
  { language }: Pick<Words, 'language'>,
  texts: T,
  count: number,
): T['one'] | T['other'] => texts[new Intl.PluralRules(language).select(count) === 'one' ? 'one' : 'other']
