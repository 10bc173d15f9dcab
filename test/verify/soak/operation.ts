import type { Reply } from '../../support/request.ts'

export interface Operation {
  /** The procedure's. */
  name: string
  /** Statuses that are right for what it sends. */
  right: readonly number[]
  /** How often it is chosen, against 1. */
  weight: number
  run: () => Promise<Reply>
}

export const operation = (
  name: string,
  right: readonly number[],
  run: () => Promise<Reply>,
  weight = 1,
): Operation => ({ name, right, run, weight })

export type Trpc = (type: 'GET' | 'POST', name: string, input: unknown, token?: string) => Promise<Reply>

/** The ids in a reply that lists or creates something. */
export function readIds({ status, body }: Reply): string[] {
  if (status !== 200 && status !== 201) return []
  const { items, id } = body.result?.data ?? body
  return items ? items.map((item: { id: string }) => item.id) : [id]
}
