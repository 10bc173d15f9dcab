export const BASE_URLS = ['APPS_BASE_URL', 'LMS_BASE_URL', 'NOTIFY_BASE_URL', 'SYNC_BASE_URL', 'AUTH_BASE_URL'] as const

export function defaultBaseUrls(port: string): Record<(typeof BASE_URLS)[number], string> {
  const at = (host: string) => new URL(`http://${host}.localhost:${port}/v1`).href
  return {
    APPS_BASE_URL: at('apps'),
    LMS_BASE_URL: at('lms'),
    NOTIFY_BASE_URL: at('notify'),
    SYNC_BASE_URL: at('sync'),
    AUTH_BASE_URL: at('auth'),
  }
}
