import { networkOf } from '../../http/client-address.ts'

/** Who asks for a code. */
export interface Sender {
  /** The client's IP address. */
  address: string
  /** The browser's id, if a member has signed in there with the e-mail address before. */
  browser: string | null
}

/** Begins the name of a known browser, but of no network. */
export const BROWSER = 'browser '

/** What codes are counted by: strangers by their network, a known browser by itself. */
export const senderName = ({ address, browser }: Sender) => (browser === null ? networkOf(address) : BROWSER + browser)
