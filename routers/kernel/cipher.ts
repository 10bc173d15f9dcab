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
}

/** The associated data of every encrypted column. */
export const associatedData = {
  template: (app: string) => `App.webhookSecret:${app}`,
  subscription: (subscription: string) => `Subscription.secret:${subscription}`,
  signingKey: (kid: string) => `SigningKey ${kid}`,
  check: () => 'SecretsKeyCheck',
}
