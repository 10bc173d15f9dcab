/** Node 22.1 has it; oidc-provider calls it, and Node 20.19 may lack it. */
const own = URL as unknown as { parse?: (url: string | URL, base?: string | URL) => URL | null }
own.parse ??= (url, base) => (URL.canParse(String(url), base && String(base)) ? new URL(url, base) : null)

const NOTICE = 'oidc-provider WARNING: Unsupported runtime'

/** It says so once, on Node 20, when it is loaded. Our suite runs it there, so that line would only worry operators. */
async function withoutNotice<Module>(load: () => Promise<Module>): Promise<Module> {
  const { console } = globalThis
  const { warn } = console
  console.warn = (...texts: unknown[]) => {
    if (!String(texts[0]).includes(NOTICE)) warn(...texts)
  }
  try {
    return await load()
  } finally {
    console.warn = warn
  }
}

export const { Provider, errors, interactionPolicy } = await withoutNotice(() => import('oidc-provider'))

// @ts-expect-error: it has no types
const { default: requests } = await import('oidc-provider/lib/helpers/als.js')
let underWay = 0

/**
 * Lets oidc-provider answer a request. It keeps whose it is in an AsyncLocalStorage. Once used, that makes every promise of
 * the process cost more, before Node 24: a PUT took a third more instructions. So it is put away while nobody needs it.
 */
export async function withRequests(answer: () => Promise<void>) {
  underWay++
  try {
    await answer()
  } finally {
    underWay--
    if (underWay === 0) requests.disable()
  }
}
