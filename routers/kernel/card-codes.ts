/** How long a card's code is valid at most: a door that has no connection learns within it that a card was withdrawn. */
export const CARD_CODE_SECONDS = 86_400

export interface SignedCard {
  serial: string
  name: string
  club: string
  /** The last day on which it is valid, YYYY-MM-DD. */
  validUntil: string
}

/** A code that a door can check, and the page about it. `validUntil` is in Unix seconds. */
export interface CardCode {
  code: string
  url: string
  validUntil: number
}

/** Codes of cards that are valid now. */
export interface CardCodes {
  sign: (card: SignedCard) => Promise<CardCode>
}
