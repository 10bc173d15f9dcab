import type { Section } from '../routers/kernel/scopes.ts'

interface Description {
  title: string
  /** Markdown. */
  description: string
  /** By the first segment of a path. */
  tags: Readonly<Record<string, { name: string; description: string }>>
  /** The body of errors that the API raises itself. */
  errorShape: 'detail' | 'error'
}

const common =
  'HEAD is answered like GET, without a body; OPTIONS as a CORS preflight, from any origin and without a token. Unknown parameters are ignored.'
const limited =
  'The request quota applies to all clients of a team together: 60 requests per minute with the Hobby membership, 10,000 with the Developer membership; sandbox clients have no limit.'

const member = {
  name: 'Member',
  description: 'What a member allows an app to read: profile, groups, calendar, plans, results, card.',
}

const quizzes = { name: 'Quizzes', description: 'Quizzes of the academy of the token, attempts and their results.' }

export const sections: Record<Section, Description> = {
  apps: {
    title: 'Member apps',
    description: `Data of the member who issued the token, in the club of the token, and JSON storage for the app.\n\n${limited}\n\n${common}`,
    tags: {
      '': member,
      me: member,
      storage: {
        name: 'Storage',
        description:
          'JSON values by collection and key, shared in the club or private to a member. 10 MB for each app and club.',
      },
    },
    errorShape: 'detail',
  },
  lms: {
    title: 'Learning platform',
    description: `Grades the answers of a learner. Requires the Developer membership.\n\n${limited}\n\n${common}`,
    tags: { quizzes },
    errorShape: 'error',
  },
  notify: {
    title: 'Notification apps',
    description: `Manages where the events of an app are delivered. Requires the Developer membership.\n\n${limited}\n\n${common}`,
    tags: {
      apps: {
        name: 'Webhook',
        description: 'The delivery address and secret that new subscriptions of an app copy.',
      },
    },
    errorShape: 'error',
  },
  sync: {
    title: 'Sync',
    description: `What the other APIs lack: an app's storage as a whole, with all entries of a collection while others write, and several entries in one transaction; quizzes and results of a learner, and the events of an app to be fetched, which need the Developer membership; codes of the member's card.\n\n${limited}\n\n${common}`,
    tags: {
      collections: {
        name: 'Collections',
        description: 'The collections of the storage, and their entries by key.',
      },
      batch: { name: 'Batch', description: 'Several writes and reads of the storage, all of them or none.' },
      quizzes,
      'quiz-results': quizzes,
      membercard: { name: 'Card', description: "The member's card in forms that others can check." },
      events: {
        name: 'Events',
        description: 'The events of the app of the client, for apps without a public address for a webhook.',
      },
      addresses: {
        name: 'Addresses',
        description: 'Addresses of the app, beside its webhook, with their own event types.',
      },
      calendar: { name: 'Calendar', description: "The member's events in their own calendar program." },
    },
    errorShape: 'error',
  },
}
