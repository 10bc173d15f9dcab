import type { Prisma, PrismaClient } from './generated/client.ts'

/** PrismaClient, whose $transaction takes a function alone: a list of its calls would have begun before. */
export type LazyPrisma = Omit<PrismaClient, '$transaction'> & {
  $transaction: <R>(
    work: (tx: Prisma.TransactionClient) => Promise<R>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: Prisma.TransactionIsolationLevel },
  ) => Promise<R>
}

/**
 * An object with the properties of `own`; all others are a PrismaClient's, which the first call loads: with its graph of
 * parameters and its query compiler it takes 55 MB and 0.15 s of CPU, which app requests never need.
 */
export function withLazyPrisma<Own extends object>(own: Own, load: () => Promise<PrismaClient>): LazyPrisma & Own {
  type Calls = Record<string, (...args: unknown[]) => unknown>
  let loaded: Promise<Calls & Record<string, Calls>> | undefined
  const prisma = () => {
    loaded ??= load() as Promise<never>
    return loaded
  }
  const get = (_: Own, key: string | symbol) => {
    // A promise that resolves with it asks for `then`.
    if (typeof key === 'symbol' || key in own || key === 'then') return Reflect.get(own, key)
    if (key.startsWith('$')) return async (...args: unknown[]) => (await prisma())[key]!(...args)
    return new Proxy(
      {},
      {
        get:
          (_, name: string) =>
          async (...args: unknown[]) =>
            (await prisma())[key]![name]!(...args),
      },
    )
  }
  return new Proxy(own, { get }) as unknown as LazyPrisma & Own
}
