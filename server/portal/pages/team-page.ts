import type { Html } from '../../browser/pages/html.ts'
import { name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import type { Link } from './layout.ts'
import { portalPage } from './layout.ts'

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
  /** Pages between that of the app and this one. */
  trail?: readonly Link[]
  body: Html
}

type Section = 'apps' | 'test-club' | 'people' | 'usage' | 'requests' | 'audit'

export function teamPage(request: PageRequest, team: { id: string; name: string }, current: Section, content: Content) {
  const { w, at } = request
  const own = at('teams', team.id)
  const link = (section: Section): Link => [w.sections[section], section === 'apps' ? own : `${own}/${section}`]
  const sections = ['apps', 'test-club', 'people', 'usage', 'requests', 'audit'] as const
  return portalPage(request, {
    ...content,
    trail: current === 'apps' ? [] : [[name(team.name), own]],
    beside: {
      label: w.sections.label,
      links: sections.map((section) => ({ link: link(section), current: section === current })),
    },
  })
}

type AppSection = 'app' | 'data' | 'webhook' | 'deliveries'

export function appPage(request: PageRequest, team: Team, app: App, current: AppSection | undefined, content: Content) {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  const link = (section: AppSection): Link => [w.appSections[section], section === 'app' ? own : `${own}/${section}`]
  const sections = ['app', 'data', 'webhook', 'deliveries'] as const
  const teamLink: Link = [name(team.name), at('teams', team.id)]
  return portalPage(request, {
    ...content,
    trail: current === 'app' ? [teamLink] : [teamLink, [name(app.name), own], ...(content.trail ?? [])],
    beside: {
      label: w.appSections.label,
      links: sections.map((section) => ({ link: link(section), current: section === current })),
    },
  })
}

export interface TeamClient {
  team: Team
  app: App | undefined
  client: Client
}

type ClientSection = 'overview' | 'sign-in' | 'scopes' | 'credentials' | 'remove'

/** `current` is undefined for a page below those of the tabs, whose title is its own. */
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
  const link = (section: ClientSection): Link => [
    w.clientSections[section],
    section === 'overview' ? own : `${own}/${section}${again}`,
  ]
  const sections = (['overview', 'sign-in', 'scopes', 'credentials', 'remove'] as const).filter(
    (section) => section !== 'credentials' || client.type === 'web',
  )
  return portalPage(request, {
    ...content,
    ...(current && { heading: name(client.name) }),
    trail: [
      [name(team.name), at('teams', team.id)],
      ...(app ? [[name(app.name), at('teams', team.id, 'apps', app.id)] as const] : []),
      ...(current ? [] : [[name(client.name), own] as const]),
    ],
    beside: {
      label: w.clientSections.label,
      links: sections.map((section) => ({ link: link(section), current: section === current })),
    },
  })
}
