/** A value as it is typed; an empty one is not sent, except in a path. */
export interface CallField {
  name: string
  in: string
  value: string
  /** `integer`, `boolean`, or a text's. */
  type: string | undefined
}

export interface Call {
  /** The operation's id. */
  id: string
  method: string
  /** With its parameters in braces. */
  path: string
  section: string
  /** Address of the API. */
  base: string
  fields: readonly CallField[]
  /** JSON; undefined without a body. */
  body: string | undefined
}

/** Without the token. */
export function buildRequest(call: Call): { url: string; headers: Record<string, string>; body: string | undefined }

/** `sdk` is undefined where the SDK has no function. The code has `$TOKEN` or `token`. */
export function renderCode(call: Call): {
  curl: string
  javascript: string
  sdk: string | undefined
  trpc: string
}

/** The value that JSON stands for, in an object; undefined where it stands for none, or would be sent as another one. */
export function tryParse(text: string): { value: unknown } | undefined
