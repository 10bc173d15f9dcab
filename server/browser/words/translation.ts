import type { en } from './en.ts'

type Texts<T> = { readonly [K in keyof T]: T[K] extends string ? string : Texts<T[K]> }

/** Every text of the English file: another one that lacks a text does not compile. */
export type Translation = Texts<typeof en>
