/** The documentation as the build renders it: HTML of this repository's Markdown. */
export interface Docs {
  /** The sidebar's, in the order of docs/README.md. */
  groups: readonly DocsGroup[]
  /** In reading order; the first is the overview, whose slug is empty. */
  pages: readonly DocsPage[]
  /** What the search finds. */
  sections: readonly DocsSection[]
  /** By file name in docs/images: a hash of the bytes. */
  pictures: Readonly<Record<string, string>>
}

export interface DocsGroup {
  title: string
  slugs: readonly string[]
}

export interface DocsPage {
  slug: string
  /** In the sidebar. */
  title: string
  heading: string
  about: string
  html: string
  contents: readonly Heading[]
}

export interface Heading {
  id: string
  text: string
  depth: number
}

/** A part of a page as plain text, without blocks of code. */
export interface DocsSection {
  slug: string
  /** Empty: the top of the page. */
  id: string
  heading: string
  text: string
}

/** HTML of an operation's examples, with marks for the addresses of the service. */
export interface OperationCode {
  /** By language. */
  calls: Readonly<Record<string, string>>
  /** By status. */
  answers: Readonly<Record<string, string>>
}

/** By API and operation. */
export type ReferenceCode = Readonly<Record<string, Readonly<Record<string, OperationCode>>>>

/** Where the pages come from: files of the build, or the sources in tests. */
export interface DocsSource {
  read: () => Docs
  /** Half a megabyte, which nobody keeps. */
  readCode: () => Promise<ReferenceCode>
  picture: (name: string) => Promise<Buffer>
}

export const toPageAddress = (slug: string) => (slug === '' ? '/docs' : `/docs/${slug}`)
