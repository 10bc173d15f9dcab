import { errors } from '../../routers/kernel/errors.ts'
import { entryName } from '../../routers/storage/procedures.ts'
import { readApp } from './apps.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import { collectionsPage, entriesPage, entryPage, entryRemovalForm, storesPage, valueForm } from './pages/data.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
import { ruleForm, rulesPage } from './pages/rules.ts'

const page: Render = async (request) => {
  const { team, app } = await readApp(request)
  const { items } = await request.developer.rules.list({ app: app.id })
  return rulesPage(request, { team, app }, items)
}

export function rulePages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/rules'
  get(own, page)
  post(own, page, ruleForm, async (request, { collection, rule }) => {
    const { team, app } = await readApp(request)
    await request.developer.rules.set({ app: app.id, collection, rule })
    return `${request.at('teams', team.id, 'apps', app.id, 'rules')}?done=${rule === 'anyone' ? 'removed' : 'saved'}`
  })
}

const readPage = (request: PageRequest) => ({ limit: PAGE_ROWS, offset: readOffset(request) })

const stores: Render = async (request) => {
  const { team, app } = await readApp(request)
  return storesPage(request, { team, app }, await request.developer.data.stores({ app: app.id, ...readPage(request) }))
}

const collections: Render = async (request) => {
  const { team, app } = await readApp(request)
  const club = request.params.club!
  const found = await request.developer.data.collections({ app: app.id, club, ...readPage(request) })
  return collectionsPage(request, { team, app, club: found.club }, found)
}

/** The inverse of `ownerSegment`. */
function collectionAt({ params }: PageRequest) {
  const segment = params.owner!
  const owner = segment === 'shared' ? '' : /^of-(.+)$/s.exec(segment)?.[1]
  const names = [params.collection!, params.key ?? params.collection!]
  if (owner === undefined || !names.every((one) => entryName.safeParse(one).success)) throw errors.addressUnknown()
  return { club: params.club!, owner, collection: params.collection! }
}

const entries: Render = async (request) => {
  const { team, app } = await readApp(request)
  const at = collectionAt(request)
  const found = await request.developer.data.entries({ app: app.id, ...at, ...readPage(request) })
  return entriesPage(request, { team, app, ...at, club: found.club }, found)
}

const entry: Render = async (request) => {
  const { team, app } = await readApp(request)
  const at = { ...collectionAt(request), key: request.params.key! }
  const found = await request.developer.data.entry({ app: app.id, ...at })
  return entryPage(request, { team, app, ...at, club: found.club }, found)
}

export function dataPages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/data'
  const dataPageUrl = ({ at, params: { team, app, club, owner, collection } }: PageRequest, ...more: string[]) =>
    at('teams', team!, 'apps', app!, 'data', club!, owner!, collection!, ...more)
  const readPlace = (request: PageRequest) => ({
    app: request.params.app!,
    ...collectionAt(request),
    key: request.params.key!,
  })
  get(own, stores)
  get(`${own}/:club`, collections)
  get(`${own}/:club/:owner/:collection`, entries)
  get(`${own}/:club/:owner/:collection/:key`, entry)
  post(`${own}/:club/:owner/:collection/:key`, entry, valueForm, async (request, fields) => {
    await readApp(request)
    await request.developer.data.put({ ...readPlace(request), ...fields })
    return `${dataPageUrl(request, request.params.key!)}?done=saved`
  })
  post(`${own}/:club/:owner/:collection/:key`, entry, entryRemovalForm, async (request, fields) => {
    await readApp(request)
    await request.developer.data.remove({ ...readPlace(request), ...fields })
    return `${dataPageUrl(request)}?done=removed`
  })
}
