import { isRevalidated } from '../../http/revalidation.ts'
import type { StepContext } from '../../http/state.ts'
import { setPageHeaders } from '../send-page.ts'
import { onlyGet } from '../stored-file.ts'
import type { LookFile } from './look-file.ts'
import { themeFile } from './theme.ts'
import { typefaces } from './typefaces.ts'

const files: readonly LookFile[] = [...typefaces, themeFile]

/** The typeface or script at an address, `base` being the directory of the sheet; undefined for other addresses. */
export const lookAt = (path: string, base: string) => files.find(({ place }) => path === base + place)

export function sendLook(ctx: StepContext, { place, type, bytes }: LookFile) {
  ctx.state.operation = 'look'
  ctx.state.address = place
  onlyGet(ctx)
  setPageHeaders(ctx)
  if (isRevalidated(ctx, `"${place.split('/').at(-1)}"`, 'public, max-age=31536000, immutable')) return
  ctx.type = type
  ctx.body = bytes
}
