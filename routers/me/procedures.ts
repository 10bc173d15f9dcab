import { router } from '../kernel/trpc.ts'
import { code, pass } from './card-code.ts'
import { competitions } from './competitions.ts'
import { events } from './events.ts'
import { groups } from './groups.ts'
import { membercard } from './member-card.ts'
import { profile } from './profile.ts'
import { trainingplans } from './training-plans.ts'

/** What an app may read of the member of its token. */
export const me = router({ profile, groups, events, trainingplans, competitions, membercard })

/** Beyond the documents, at the host `sync`: the card in forms that others can check. */
export const card = router({ code, pass })
