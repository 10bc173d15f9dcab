/** Calls `run` after that time, unless what it returns is called first. */
export function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
