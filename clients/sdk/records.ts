/** Any value that JSON can represent. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export interface Root {
  api: 'apps'
  /** The club of the token. */
  organisation: string
}

export interface Profile {
  id: string
  firstName: string
  lastName: string
  email: string
  /** A plain date, `YYYY-MM-DD`. */
  birthday: string | null
  /** An address; empty when there is no image. */
  image: string
}

export interface Group {
  id: string
  name: string
  role: 'member' | 'trainer'
}

export interface Event {
  id: string
  title: string
  /** Unix seconds, as all times. */
  start: number
  end: number
  location: string
}

export interface TrainingPlan {
  id: string
  name: string
  category: string
  description: string
  exerciseCount: number
  /** The group through which the plan is the member's. */
  group: string
}

export interface CompetitionResult {
  id: string
  competitionId: string
  competition: string
  disciplineId: string
  place: number
  score: number
  timestamp: number
}

export interface MemberCard {
  serial: string
  status: string
  valid: boolean
  name: string
  memberNumber: string
  departments: string[]
  /** A plain date, `YYYY-MM-DD`. */
  validUntil: string
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
