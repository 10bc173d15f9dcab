/**
 * What a review covers: a new team; a new client as a whole; changes of a client or an app that members use; or an app, for the
 * members of a club, or for a child among them. The operator reviews all but the last two: the club's administrators do, and a
 * guardian.
 */
export type Covered = 'team' | 'client' | 'changes' | 'club' | 'child'

/** `unasked`: nobody has asked, or decided. Changes are `approved` while none is pending: what members see was approved. */
export type ReviewState = 'unasked' | 'requested' | 'approved' | 'refused' | 'withdrawn'

export type ReviewAct = 'request' | 'approve' | 'refuse' | 'withdraw'

/** What an act makes of a review. What is missing is forbidden, and changes nothing. */
export const transitions: Record<Covered, Partial<Record<ReviewState, Partial<Record<ReviewAct, ReviewState>>>>> = {
  /** An approved request is a team: its person may ask for another one. */
  team: {
    unasked: { request: 'requested' },
    requested: { approve: 'unasked', refuse: 'refused', withdraw: 'unasked' },
    refused: { request: 'requested' },
  },
  client: {
    unasked: { request: 'requested' },
    requested: { approve: 'approved', refuse: 'refused', withdraw: 'unasked' },
    approved: {},
    refused: { request: 'requested' },
  },
  /** A team may change what it asks for, and withdraws it, also by setting what members see already. Any change ends a refusal. */
  changes: {
    approved: { request: 'requested' },
    requested: { request: 'requested', approve: 'approved', refuse: 'refused', withdraw: 'approved' },
    refused: { request: 'requested' },
  },
  /** A club decides without being asked, and again; it is asked once. */
  club: {
    unasked: { request: 'requested', approve: 'approved', refuse: 'refused' },
    requested: { approve: 'approved', refuse: 'refused' },
    approved: { approve: 'approved', withdraw: 'withdrawn' },
    refused: { approve: 'approved', refuse: 'refused' },
    withdrawn: { approve: 'approved', refuse: 'refused', withdraw: 'withdrawn' },
  },
  /** A child asks again for more, and keeps what was approved. What is in use unasked can be ended. */
  child: {
    unasked: { request: 'requested', withdraw: 'withdrawn' },
    requested: { request: 'requested', approve: 'approved', refuse: 'refused' },
    approved: { request: 'requested', withdraw: 'withdrawn' },
    refused: { approve: 'approved' },
    withdrawn: { approve: 'approved' },
  },
}

export interface Review {
  covers: Covered
  state: ReviewState
}

/** The state after an act; undefined where it is forbidden. */
export const stateAfter = ({ covers, state }: Review, act: ReviewAct): ReviewState | undefined =>
  transitions[covers][state]?.[act]
