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

/**
 * The ETag as the service sent it: proxies that compress weaken it (`W/`, as nginx), or add to it (`-gzip`, as Apache). Ours end in
 * no such word.
 */
export const strong = <Tag extends string | undefined>(etag: Tag): Tag =>
  etag
    ?.trim()
    .replace(/^W\//i, '')
    .replace(/-(?:gzip|br|zstd|deflate)"$/, '"') as Tag
