export interface Session {
  person: string | undefined
  uid: string
  /** The time of the sign-in, in Unix seconds. */
  since: number | undefined
  /** `at` is Unix time in milliseconds. */
  signIn: (person: string, at: number) => Promise<void>
  signOut: () => Promise<void>
}
