import type { Section } from '../routers/trpc.ts'

/** The three APIs: what each is called, and how its own errors look. */
export const sections: Record<Section, { title: string; description: string; dialect: 'detail' | 'error' }> = {
  apps: { title: 'Member apps', description: 'Member data and storage for apps.', dialect: 'detail' },
  lms: { title: 'Learning platform', description: 'Submits quiz attempts.', dialect: 'error' },
  notify: { title: 'Notification apps', description: 'Webhook templates of apps.', dialect: 'error' },
}
