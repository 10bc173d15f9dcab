import type { Html } from '../../browser/pages/html.ts'
import { name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import { portalPage } from './layout.ts'
import type { Link } from './shell.ts'
import { navigation } from './shell.ts'

type Returned<Procedure extends (...input: never[]) => unknown> = Awaited<ReturnType<Procedure>>

export type Team = Returned<Developer['teams']['summary']>
export type Apps = Returned<Developer['apps']['list']>
export type App = Returned<Developer['apps']['get']>
export type Clients = Returned<Developer['clients']['list']>
export type ClientSummary = Clients['items'][number]
export type Client = Returned<Developer['clients']['get']>
export type People = Returned<Developer['people']['list']>
export type Person = People['items'][number]

interface Content {
  title: string
  heading?: Html
  /** Pages between that of the navigation and this one. */
  trail?: readonly Link[]
  body: Html
}

type Named = Pick<Team, 'id' | 'name'>
type Section = 'apps' | 'test-club' | 'people' | 'usage' | 'requests' | 'audit'

function teamNavigation(request: PageRequest, team: Named, current: Section) {
  const { w, at } = request
  const own = at('teams', team.id)
  const toAddress = (section: Section) => (section === 'apps' ? own : `${own}/${section}`)
  const sections = ['apps', 'test-club', 'people', 'usage', 'requests', 'audit'] as const
  return navigation(request, {
    label: w.sections.label,
    links: sections.map((section) => [w.sections[section], toAddress(section)]),
    current: toAddress(current),
  })
}

export const teamPage = (request: PageRequest, team: Named, current: Section, content: Content) =>
  portalPage(request, {
    ...content,
    subject: name(team.name),
    team,
    beside: teamNavigation(request, team, current),
  })

type AppSection = 'overview' | 'clients' | 'webhook' | 'deliveries' | 'requests' | 'data' | 'usage' | 'settings'

function appNavigation(request: PageRequest, team: Named, app: Pick<App, 'id'>, current: AppSection) {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  const toAddress = (section: AppSection) => (section === 'overview' ? own : `${own}/${section}`)
  const sections = ['overview', 'clients', 'webhook', 'deliveries', 'requests', 'data', 'usage', 'settings'] as const
  return navigation(request, {
    label: w.appSections.label,
    up: [w.sections.apps, at('teams', team.id)],
    links: sections.map((section) => [w.appSections[section], toAddress(section)]),
    current: toAddress(current),
  })
}

/** By default a page of one delivery. */
export const appPage = (
  request: PageRequest,
  team: Team,
  app: App,
  current: AppSection = 'deliveries',
  content: Content,
) =>
  portalPage(request, {
    ...content,
    subject: name(app.name),
    team,
    beside: appNavigation(request, team, app, current),
  })

export interface TeamClient {
  team: Team
  app: App | undefined
  client: Client
}

type ClientSection = 'overview' | 'sign-in' | 'scopes' | 'credentials' | 'remove'

/** `current` is undefined for a page below those of the tabs. */
export function clientPage(
  request: PageRequest,
  { team, app, client }: TeamClient,
  current: ClientSection | undefined,
  content: Content,
) {
  const { w, at, query } = request
  const own = at('teams', team.id, 'clients', client.id)
  // The forms of all tabs have the refused values.
  const again = query.has('again') ? '?again=yes' : ''
  const toAddress = (section: ClientSection) => (section === 'overview' ? own : `${own}/${section}${again}`)
  const sections = (['overview', 'sign-in', 'scopes', 'credentials', 'remove'] as const).filter(
    (section) => section !== 'credentials' || client.type === 'web',
  )
  return portalPage(request, {
    ...content,
    subject: name(client.name),
    team,
    beside: app ? appNavigation(request, team, app, 'clients') : teamNavigation(request, team, 'apps'),
    trail: app ? [[name(app.name), at('teams', team.id, 'apps', app.id, 'clients')]] : [],
    tabs: {
      label: w.clientSections.label,
      all: sections.map((section) => ({
        text: w.clientSections[section],
        address: toAddress(section),
        current: section === current,
      })),
    },
  })
}
