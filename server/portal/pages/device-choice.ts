import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import type { Form } from './form.ts'

/** Whether a client signs in on devices; `devices` is the stored value. */
export function deviceChoice({ w }: Visit, form: Form, devices: boolean) {
  const checked = form.typed ? form.typed.has('devices') : devices
  return html`<label class="choice"><input type="checkbox" name="devices" value="yes"${checked && html` checked`} aria-describedby="devices-hint"><span>${w.devices}</span></label>
<p class="hint" id="devices-hint">${w.devicesHint}</p>`
}
