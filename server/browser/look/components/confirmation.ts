import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

interface Confirmation {
  /** What ends, and whether it can be undone. */
  lead: Html | string
  /** Names what will be removed. */
  facts?: Html | null
  /** Where the form is posted to. */
  action: string
  /** Hidden fields, and the one in which the reader types a name. */
  fields?: Html | null
  /** The same words as the title of the page: never "OK". */
  button: string
  cancel: { text: string; address: string }
}

/** Asks before something is removed. Its button has the colour of no other form. */
export const confirmation = ({
  lead,
  facts,
  action,
  fields,
  button,
  cancel,
}: Confirmation) => html`<p class="lead">${lead}</p>
${facts}<form method="post" action="${action}">${fields}
<div class="buttons"><button class="danger">${button}</button> <a class="button" href="${cancel.address}">${cancel.text}</a></div>
</form>`
