/** The documentation as the build renders it: HTML of this repository's Markdown. */
export interface Docs {
  /** The sidebar's, in the order of docs/README.md. */
  groups: readonly DocsGroup[]
  /** In reading order; the first is the overview, whose slug is empty. */
  pages: readonly DocsPage[]
  /** JSON for the script: pages, sections, and the sections of each word. */
  search: string
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

/** Where the pages come from: files of the build, or the sources in tests. */
export interface DocsSource {
  read: () => Docs
  picture: (name: string) => Promise<Buffer>
}

export const toPageAddress = (slug: string) => (slug === '' ? '/docs' : `/docs/${slug}`)
