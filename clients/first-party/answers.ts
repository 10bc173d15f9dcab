/** tRPC's answer to one call. */
export type Answer = { result: { data: unknown } } | { error: { code: number; message: string; data: unknown } }

/** The answers to the calls of a batch. A response of something else, as of a proxy, is an error with its status for each call. */
export async function answersOf(response: Response, count: number): Promise<Answer[]> {
  const parsed: unknown = await response.json().catch(() => undefined)
  const answers = Array.isArray(parsed) ? parsed : Array(count).fill(parsed)
  return answers.length === count && answers.every(isAnswer) ? answers : Array(count).fill(foreign(response))
}

const isAnswer = (given: Partial<Record<'result' | 'error', { code?: unknown }>> | undefined) =>
  given?.result !== undefined || typeof given?.error?.code === 'number'

/** Of a proxy, or of another address of the service. */
function foreign({ status }: Response): Answer {
  const message = `The answer is ${status}, and not one of tRPC.`
  const data = { httpStatus: status, error: status < 500 ? 'invalid_request' : 'unavailable' }
  return { error: { code: -32603, message, data } }
}
