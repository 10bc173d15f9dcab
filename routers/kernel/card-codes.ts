import { DAY_SECONDS } from './time.ts'

/** How long a code of a card is valid at most: a door without a connection learns within it that the card was withdrawn. */
export const CARD_CODE_SECONDS = DAY_SECONDS

/** What a code says of a valid card; `validUntil` is its last day, YYYY-MM-DD. */
export interface CodedCard {
  serial: string
  name: string
  club: string
  validUntil: string
}

export interface CardCodes {
  /** `url` is the page about the card; `validUntil` is in Unix seconds. */
  sign: (card: CodedCard) => Promise<{ code: string; url: string; validUntil: number }>
  /** A pass for Apple Wallet; undefined where the operator has set no certificate. */
  makePass?: ((card: CodedCard) => Promise<Buffer>) | undefined
}
