export interface ListedEntry<Value> {
  key: string
  value: Value
  /** Unix seconds. */
  updatedAt: number
}

export interface Entry<Value> extends ListedEntry<Value> {
  /** Identifies this version of the entry, for `ifMatch`. */
  etag: string
}
