import { randomInt } from 'node:crypto'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** An id of ours, as `c_` and 20 letters. Members trust names by ids, so nobody chooses one. */
export const newId = (kind: 'a' | 'c' | 'i' | 'p' | 't') =>
  `${kind}_${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`

export const fullName = ({ firstName, lastName }: { firstName: string; lastName: string }) =>
  `${firstName} ${lastName}`.trim()
