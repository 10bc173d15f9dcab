/** Values of one answer up to this size are read at once; for larger ones memory is reserved first. */
export const LARGE_BYTES = 1024 * 1024

/** Reserves memory for values of `bytes`. */
export type Reserve = (bytes: number) => Promise<void>

/** Reads values of up to `freeBytes` at once; reserves memory for larger ones, then reads again. */
export async function readWithin<Row extends { bytes: number | null }>(
  reserve: Reserve,
  read: (maxBytes: number) => Promise<Row[]>,
  freeBytes = LARGE_BYTES,
): Promise<Row[]> {
  let reserved = 0
  for (;;) {
    const maxBytes = Math.max(freeBytes, reserved)
    const rows = await read(maxBytes)
    const bytes = rows[0]?.bytes ?? 0
    if (bytes <= maxBytes) return rows
    // The values may have grown since the first read: only the difference is missing.
    await reserve(bytes - reserved)
    reserved = bytes
  }
}
