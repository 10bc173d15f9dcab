import { html } from '../browser/pages/html.ts'
import type { BaseUrls, LocalUrls } from '../http/match-route.ts'

/** The addresses of the running service that pages name in place of the documented ones. */
export interface Running {
  /** At the host where the page is read. */
  urls: BaseUrls & { auth: string | undefined }
  /** An external one where `auth` is undefined. */
  issuer: string | undefined
  /** The host that refusals name. */
  appsHost: string
  /** In the trial: for programs that cannot resolve *.localhost. */
  paths: LocalUrls | undefined
  /** In the trial; elsewhere it is not public, and pages have its default. */
  trpc: string | undefined
}

/** Unknown addresses stay recognisable as an example. */
const AUTH = 'https://auth.example.org/v1'
const authAt = ({ urls }: Running) => urls.auth ?? AUTH
const issuerAt = ({ issuer }: Running) => issuer ?? `${AUTH}/oauth`

/** Documented addresses, the longer of two that begin alike first. */
const table: readonly [documented: RegExp, running: (at: Running) => string][] = [
  [/http:\/\/auth\.localhost:3000\/v1\/oauth(?![\w/])/g, issuerAt],
  [/http:\/\/auth\.localhost:3000\/v1\b/g, authAt],
  [/http:\/\/apps\.localhost:3000\/v1\b/g, ({ urls }) => urls.apps],
  [/http:\/\/lms\.localhost:3000\/v1\b/g, ({ urls }) => urls.lms],
  [/http:\/\/notify\.localhost:3000\/v1\b/g, ({ urls }) => urls.notify],
  [/http:\/\/sync\.localhost:3000\/v1\b/g, ({ urls }) => urls.sync],
  [/apps\.localhost:3000\b/g, ({ appsHost }) => appsHost],
  [/http:\/\/localhost:3000\/apps\/v1\b/g, ({ urls, paths }) => (paths ?? urls).apps],
  [/http:\/\/localhost:3000\/sync\/v1\b/g, ({ urls, paths }) => (paths ?? urls).sync],
  [/http:\/\/localhost:3000\/auth\/v1\b/g, (at) => at.paths?.auth ?? authAt(at)],
  [/http:\/\/localhost:3001\/trpc\b/g, ({ trpc }) => trpc ?? 'http://localhost:3001/trpc'],
  [/http:\/\/localhost:3000(?=\/(?:sdk|first-party)\.tgz)/g, ({ urls, paths }) => new URL((paths ?? urls).apps).origin],
  [/https:\/\/auth\.example\.org\/v1\/oauth(?![\w/])/g, issuerAt],
  [/https:\/\/auth\.example\.org(?![\w/])/g, (at) => new URL(issuerAt(at)).origin],
  [/https:\/\/apps\.example\.org\/v1\b/g, ({ urls }) => urls.apps],
]

/** Sets up another service, at names that its reader replaces throughout. */
const KEPT = new Set(['docs/production.md'])

const FIRST = 0xe000

/** The documented addresses in code of a file as one private-use character each, which no highlighting divides. */
export const markAddresses = (code: string, path = '') =>
  KEPT.has(path)
    ? code
    : table.reduce((text, [documented], i) => text.replace(documented, String.fromCharCode(FIRST + i)), code)

/** The running addresses in HTML, in place of the marks. */
export const fillAddresses = (marked: string, at: Running) =>
  marked.replace(/[\ue000-\ue0ff]/g, (mark) => {
    const row = table[mark.charCodeAt(0) - FIRST]
    return row ? html`${row[1](at)}`.text : mark
  })
