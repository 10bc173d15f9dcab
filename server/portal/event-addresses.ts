import { errors } from '../../routers/kernel/errors.ts'
import { readApp } from './apps.ts'
import { form } from './forms/form.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import type { AddressView } from './pages/event-addresses.ts'
import {
  addForm,
  addressesPage,
  addressPage,
  addressRemovalPage,
  addressUrl,
  changeForm,
  stateForm,
} from './pages/event-addresses.ts'

/** Throws 404 for an address of another app. */
async function readView(request: PageRequest, id = request.params.address): Promise<AddressView> {
  const view = await readApp(request)
  const { items, types } = await request.developer.addresses.list({ app: view.app.id })
  const address = items.find((one) => one.id === id)
  if (!address) throw errors.eventAddressUnknown()
  return { ...view, types, address }
}

const list: Render = async (request) => {
  const view = await readApp(request)
  return addressesPage(request, view, await request.developer.addresses.list({ app: view.app.id }))
}
const page: Render = async (request) => addressPage(request, await readView(request))
const removal: Render = async (request) => addressRemovalPage(request, await readView(request))

interface Typed {
  url?: string | undefined
  secret?: string | undefined
  all: boolean
  types?: string[] | null | undefined
}

/** As the API has it: null for all. */
const toSettings = ({ url = '', secret, all, types }: Typed) => ({
  url: url.trim(),
  types: all ? null : (types ?? []),
  ...(secret?.trim() && { secret: secret.trim() }),
})

export function eventAddressPages({ get, post }: Routes) {
  const all = '/teams/:team/apps/:app/addresses'
  const one = `${all}/:address`
  get(all, list)
  post(all, list, addForm, async (request, { environment, ...typed }) => {
    const { app } = await readApp(request)
    const wanted = { app: app.id, environment, ...toSettings(typed) }
    const { id, secret } = await request.developer.addresses.create(wanted)
    return { page: addressPage(request, { ...(await readView(request, id)), secret }) }
  })
  // After `/addresses/add`, which is no id.
  get(one, page)
  get(`${one}/remove`, removal)
  post(one, page, changeForm, async (request, { etag, ...typed }) => {
    const { app, address } = await readView(request)
    await request.developer.addresses.update({ app: app.id, id: address.id, etag, ...toSettings(typed) })
    return `${addressUrl(request, address.id)}?done=saved`
  })
  post(one, page, stateForm, async (request, state) => {
    const { app, address } = await readView(request)
    await request.developer.addresses.update({ app: app.id, id: address.id, ...state })
    return `${addressUrl(request, address.id)}?done=saved`
  })
  post(one, page, form('test'), async (request) => {
    const { app, address } = await readView(request)
    const { delivery } = await request.developer.webhook.test({ app: app.id, address: address.id })
    return `${request.at('teams', app.team, 'apps', app.id, 'deliveries', delivery)}?done=sent`
  })
  post(`${one}/remove`, removal, form('confirm'), async (request) => {
    const { app, address } = await readView(request)
    await request.developer.addresses.remove({ app: app.id, id: address.id })
    return `${addressUrl(request)}?done=removed`
  })
}
