/** The languages of the examples, by the value of `?code=`. The last one is for programs of the platform alone. */
export const languages = {
  curl: 'curl',
  javascript: 'JavaScript',
  sdk: 'SDK',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
  swift: 'Swift',
  kotlin: 'Kotlin',
  csharp: 'C#',
  trpc: 'tRPC',
} as const

export type Language = keyof typeof languages

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name)

export const FIRST: Language = 'curl'
