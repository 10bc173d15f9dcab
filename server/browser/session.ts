/** Who is signed in in a browser. */
export interface Session {
  /** Undefined: nobody. */
  person: string | undefined
  uid: string
  /** When the person signed in, in Unix seconds. */
  since: number | undefined
  /** `at` is Unix time in milliseconds. */
  signIn: (person: string, at: number) => Promise<void>
  signOut: () => Promise<void>
}
