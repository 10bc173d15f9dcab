import type { Language } from '../pages/pages.ts'

const texts = {
  en: {
    subject: 'Your code to sign in',
    lead: 'This is your code to sign in:',
    rest: [
      'Enter it in the browser that is waiting for it. It works there only, once, for 10 minutes.',
      'Nobody will ever ask you for it. If you did not want to sign in, leave this mail alone: without the code nobody gets in.',
    ],
  },
  de: {
    subject: 'Code zum Anmelden',
    lead: 'Das ist der Code zum Anmelden:',
    rest: [
      'Er gehört in den Browser, der auf ihn wartet. Nur dort gilt er, ein einziges Mal, 10 Minuten lang.',
      'Niemand wird je nach ihm fragen. War keine Anmeldung gewünscht, ist nichts zu tun: Ohne den Code kommt niemand hinein.',
    ],
  },
}

/** The mail with the code. It names no app and has no link, as neither is needed to type eight digits. */
export function codeMail(code: string, language: Language) {
  const { subject, lead, rest } = texts[language]
  const paragraphs = rest.map((text) => `<p>${text}</p>`).join('\n')
  return {
    subject: `${subject}: ${code}`,
    text: [lead, `    ${code}`, ...rest, ''].join('\n\n'),
    html: `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font: 16px/1.5 sans-serif; color: #1c2430; max-width: 32em">
<p>${lead}</p>
<p style="font: bold 28px/1.5 monospace; letter-spacing: 0.1em">${code}</p>
${paragraphs}
</body>
</html>
`,
  }
}
