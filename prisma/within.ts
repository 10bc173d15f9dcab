/** Resolves to `late` after `ms`; the promise's work then continues unobserved. */
export async function within<T, Late = undefined>(ms: number, promise: Promise<T>, late?: Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late as Late), ms)
  })
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}
