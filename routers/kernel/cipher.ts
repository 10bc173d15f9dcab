/**
 * Authenticated encryption of secrets that must be readable again. `associatedData` names where a value is stored: copied to
 * another row, it cannot be decrypted.
 */
export interface Cipher {
  encrypt: (plaintext: string, associatedData: string) => string
  /** Throws when the value was changed or moved, or when none of the configured keys encrypted it. */
  decrypt: (ciphertext: string, associatedData: string) => string
  /** The index of the key that decrypts the value; 0 is the one that encrypts. Null when no configured key does. */
  keyIndex: (ciphertext: string, associatedData: string) => number | null
  /** Keyed hashes by which a text is found and not read, one of each key: the first is the one to store. */
  computeMarks: (text: string, purpose: string) => string[]
  /** For many short texts of one owner. */
  sealerFor: (owner: string) => Sealer
}

/** Encrypts with a key of the owner's own, which is derived once: no other owner's sealer opens its texts. */
export interface Sealer {
  /** Differs each time; in base64url. */
  seal: (text: string) => string
  /** Undefined for a text that this owner has not sealed. */
  open: (sealed: string) => string | undefined
}

/** The associated data of every encrypted column. */
export const associatedData = {
  template: (app: string) => `App.webhookSecret:${app}`,
  formerTemplate: (app: string) => `App.formerSecret:${app}`,
  subscription: (subscription: string) => `Subscription.secret:${subscription}`,
  formerSubscription: (subscription: string) => `Subscription.formerSecret:${subscription}`,
  signingKey: (kid: string) => `SigningKey ${kid}`,
  rsaSigningKey: (kid: string) => `RsaSigningKey ${kid}`,
  cardKey: (kid: string) => `CardKey ${kid}`,
  check: () => 'SecretsKeyCheck',
}

/** Keyed hashes of a member, for the request log: the first is stored, all of them are looked for. */
export const memberMarks = (cipher: Cipher, member: string) => cipher.computeMarks(member, 'request log member')
