/** Headers that every delivery has. Firewalls refuse requests without `accept`. */
export const DELIVERY_HEADERS = {
  accept: '*/*',
  'content-type': 'application/json',
  'user-agent': 'member-apps-api-webhooks/1',
}

interface Event {
  id: string
  type: string
  /** An ISO time. */
  publishedAt: string
}

/** What receivers get. `data` is JSON text. */
export const formatBody = ({ id, type, publishedAt }: Event, data: string) =>
  `{"id":${JSON.stringify(id)},"type":"${type}","timestamp":"${publishedAt}","data":${data}}`
