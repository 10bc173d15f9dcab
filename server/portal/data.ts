import { errors } from '../../routers/kernel/errors.ts'
import { entryName } from '../../routers/storage/procedures.ts'
import { appOf } from './apps.ts'
import { collectionsPage, entriesPage, entryPage, storesPage } from './pages/data.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import type { Routes, Show, Visit } from './visit.ts'

const pageOf = (visit: Visit) => ({ limit: PAGE_ROWS, offset: offsetOf(visit) })

const stores: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  return storesPage(visit, { team, app }, await visit.developer.data.stores({ app: app.id, ...pageOf(visit) }))
}

const collections: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  const club = visit.params.club!
  const found = await visit.developer.data.collections({ app: app.id, club, ...pageOf(visit) })
  return collectionsPage(visit, { team, app, club: found.club }, found)
}

/** The inverse of `ownerSegment`. */
function collectionAt({ params }: Visit) {
  const segment = params.owner!
  const owner = segment === 'shared' ? '' : /^of-(.+)$/s.exec(segment)?.[1]
  const names = [params.collection!, params.key ?? params.collection!]
  if (owner === undefined || !names.every((one) => entryName.safeParse(one).success)) throw errors.addressUnknown()
  return { club: params.club!, owner, collection: params.collection! }
}

const entries: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  const at = collectionAt(visit)
  const found = await visit.developer.data.entries({ app: app.id, ...at, ...pageOf(visit) })
  return entriesPage(visit, { team, app, ...at, club: found.club }, found)
}

const entry: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  const at = { ...collectionAt(visit), key: visit.params.key! }
  const found = await visit.developer.data.entry({ app: app.id, ...at })
  return entryPage(visit, { team, app, ...at, club: found.club }, found)
}

export function dataPages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/data'
  const addressOf = ({ at, params: { team, app, club, owner, collection } }: Visit, ...more: string[]) =>
    at('teams', team!, 'apps', app!, 'data', club!, owner!, collection!, ...more)
  const inputOf = (visit: Visit, form: URLSearchParams) => ({
    app: visit.params.app!,
    ...collectionAt(visit),
    key: visit.params.key!,
    etag: form.get('etag') ?? '',
  })
  get(own, stores)
  get(`${own}/:club`, collections)
  get(`${own}/:club/:owner/:collection`, entries)
  get(`${own}/:club/:owner/:collection/:key`, entry)
  post(`${own}/:club/:owner/:collection/:key/save`, entry, async (visit, form) => {
    await appOf(visit)
    // Browsers send line breaks as CRLF.
    const value = (form.get('value') ?? '').replaceAll('\r\n', '\n')
    await visit.developer.data.put({ ...inputOf(visit, form), value })
    return `${addressOf(visit, visit.params.key!)}?done=saved`
  })
  post(`${own}/:club/:owner/:collection/:key/delete`, entry, async (visit, form) => {
    await appOf(visit)
    await visit.developer.data.remove(inputOf(visit, form))
    return `${addressOf(visit)}?done=removed`
  })
}
