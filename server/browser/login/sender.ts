import { toNetwork } from '../../http/client-address.ts'

export interface Sender {
  address: string
  /** The browser's id, if a member has signed in with the e-mail address there before. */
  browser: string | null
}

/** Prefix of a known browser's name, which no network's name has. */
export const BROWSER = 'browser '

/** The key by which codes are counted: the network of an unknown sender, or the known browser. */
export const senderName = ({ address, browser }: Sender) => (browser === null ? toNetwork(address) : BROWSER + browser)
