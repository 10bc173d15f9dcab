import { router } from '../trpc.ts'
import { create } from './client-create.ts'
import { remove } from './client-remove.ts'
import { requestProduction } from './client-request.ts'
import { update } from './client-update.ts'
import { getClient, listClients } from './team-clients.ts'

export const clients = router({ list: listClients, get: getClient, create, update, remove, requestProduction })
