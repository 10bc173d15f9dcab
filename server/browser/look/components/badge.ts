import { html } from '../../pages/html.ts'

/** Good is in force, pending waits or is a sandbox, bad is refused, suspended or has failed. */
export type Tone = 'good' | 'pending' | 'bad' | 'plain'

export const badge = (text: string, tone: Tone) => html`<span class="badge ${tone}">${text}</span>`
