import { parseUrl } from '../../../prisma/parse-url.ts'

/** oidc-provider calls URL.parse, with one argument, which came with Node 22.1; the service also runs on Node 20.19. */
URL.parse ??= parseUrl

const NOTICE = 'oidc-provider WARNING: Unsupported runtime'

/** On Node 20 oidc-provider prints this warning when it is loaded. It is dropped, as the test suite covers Node 20. */
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
