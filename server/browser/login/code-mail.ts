import type { Language } from '../language.ts'
import { html } from '../pages/html.ts'
import { words as pageWords } from '../pages/layout.ts'

const texts = {
  en: {
    subject: (service: string) => `Your sign-in code for ${service}`,
    lead: (service: string) => `This is your sign-in code for ${service}:`,
    rest: [
      'Enter it in the browser where you requested it. It works only there, only once, and for 10 minutes.',
      'Nobody will ever ask you for this code. If you did not request it, you can ignore this e-mail: nobody can sign in without the code.',
    ],
  },
  de: {
    subject: (service: string) => `Anmeldecode für ${service}`,
    lead: (service: string) => `Das ist der Anmeldecode für ${service}:`,
    rest: [
      'Er gehört in den Browser, in dem er angefordert wurde. Er gilt nur dort, nur einmal und 10 Minuten lang.',
      'Niemand wird jemals nach diesem Code fragen. Wurde er nicht angefordert, kann diese E-Mail ignoriert werden: Ohne den Code kann sich niemand anmelden.',
    ],
  },
}

/** The mail needs no link, and names the service as its pages do, not the app. */
export function codeMail(code: string, language: Language, brand: string = pageWords[language].mark) {
  const words = texts[language]
  const [subject, lead] = [words.subject(brand), words.lead(brand)]
  const page = html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font: 16px/1.5 sans-serif; color: #1c2430; max-width: 32em">
<p>${lead}</p>
<p style="font: bold 28px/1.5 monospace; letter-spacing: 0.1em">${code}</p>
${words.rest.map((text) => html`<p>${text}</p>\n`)}</body>
</html>
`
  return { subject, text: [lead, `    ${code}`, ...words.rest, ''].join('\n\n'), html: page.text }
}
