import type { Section } from '../routers/scopes.ts'

interface Description {
  title: string
  description: string
  /** The body of errors that the API raises itself. */
  errorShape: 'detail' | 'error'
}

export const sectionNames = ['apps', 'lms', 'notify'] as const satisfies readonly Section[]

/** The three APIs. */
export const sections: Record<Section, Description> = {
  apps: { title: 'Member apps', description: 'Member data and storage for apps.', errorShape: 'detail' },
  lms: { title: 'Learning platform', description: 'Submits quiz attempts.', errorShape: 'error' },
  notify: { title: 'Notification apps', description: 'Webhook templates of apps.', errorShape: 'error' },
}
