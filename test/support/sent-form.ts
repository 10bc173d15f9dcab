const unescaped = (text: string) =>
  text.replace(
    /&(?:amp|lt|gt|quot|#39);/g,
    (entity) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' })[entity] ?? "'",
  )

/** The forms of a page by their last segments. */
export const findForms = (html: string) =>
  new Map(
    [...html.matchAll(/<form\b[^>]* action="[^"]*?([\w-]+)"[^>]*>(.*?)<\/form>/gs)].map(([form, action]) => [
      action!,
      form,
    ]),
  )

/** What a browser sends of a page, or of one of its forms: line breaks as CRLF, ticked boxes, the chosen option. */
export function sentForm(html: string, action?: string): URLSearchParams {
  const fields = new URLSearchParams()
  const add = (name: string, value: string) => fields.append(name, unescaped(value).replace(/\r?\n/g, '\r\n'))
  const control =
    /<input ([^>]*)>|<textarea [^>]*name="([^"]*)"[^>]*>\n([^<]*)<|<select [^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs
  const shown = action === undefined ? html : findForms(html).get(action)!
  for (const [, attributes, area, text, choice, all] of shown.matchAll(control)) {
    if (area !== undefined) add(area, text!)
    else if (choice !== undefined)
      add(choice, (/value="([^"]*)" selected/.exec(all!) ?? /value="([^"]*)"/.exec(all!))![1]!)
    else if (!/type="checkbox"/.test(attributes!) || / checked/.test(attributes!)) {
      add(/name="([^"]*)"/.exec(attributes!)![1]!, /value="([^"]*)"/.exec(attributes!)![1]!)
    }
  }
  return fields
}
