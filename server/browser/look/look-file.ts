/** What pages load for their look, for a year. */
export interface LookFile {
  /** Below the directory of the sheet, with the version in its name: `/fonts/inter-….woff2`. */
  place: string
  type: string
  bytes: Buffer
}
