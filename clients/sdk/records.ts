export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export interface Root {
  api: 'apps'
  /** The token's club. */
  organisation: string
}

export interface QuizResult {
  id: string
  /** Percent of the questions that can be graded automatically. */
  score: number
  passed: boolean
  reviewStatus: 'passed' | 'failed' | 'pending_review'
  gradedQuestions: number
}

/** By question id: the chosen text, the chosen texts, or the member's own text. */
export type Answers = Record<string, string | string[]>

export interface Webhook {
  /** Null when none is set. */
  url: string | null
  hasSecret: boolean
}

export interface Items<Item> {
  items: Item[]
}
