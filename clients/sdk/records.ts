/** Any value that JSON can represent. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export interface Root {
  api: 'apps'
  /** The club of the token. */
  organisation: string
}

export interface QuizResult {
  id: string
  /** Percent of the questions that a machine can grade. */
  score: number
  passed: boolean
  reviewStatus: 'passed' | 'failed' | 'pending_review'
  gradedQuestions: number
}

/** By question id: the chosen text, the chosen texts, or what the member wrote. */
export type Answers = Record<string, string | string[]>

export interface Webhook {
  /** Null when none is set. */
  url: string | null
  hasSecret: boolean
}

export interface Items<Item> {
  items: Item[]
}
