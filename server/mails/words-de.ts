import type { MailWords } from './words-en.ts'

const role = { owner: 'mit allen Rechten', developer: 'zum Entwickeln' }

const day = (ms: number) => new Date(ms).toLocaleDateString('de-DE', { dateStyle: 'long', timeZone: 'UTC' })

const listed = (addresses: readonly string[]) =>
  addresses.length === 0 ? [] : [['Darunter diese Adressen:', ...addresses].join('\n')]

export const de: MailWords = {
  types: {
    invitation: 'Einladungen in Teams',
    requestReceived: 'Eingegangene Anträge',
    requestApproved: 'Genehmigte Anträge',
    requestRefused: 'Nicht genehmigte Anträge',
    webhookFailing: 'Webhooks, die seit 24 Stunden fehlschlagen',
    webhookEnded: 'Abgeschaltete Webhooks',
    secretExpiring: 'Ablaufende Client-Secrets',
    approvalRequested: 'Anfragen an selbst verwaltete Vereine',
    guardianAsked: 'Anfragen von Kindern, für die selbst entschieden wird',
  },
  invitation: ({ team, brand }, { by, role: as, expiresAt }) => ({
    subject: `Einladung in das Team ${team}`,
    paragraphs: [
      `${by ?? 'Der Betreiber'} lädt in das Team „${team}“ ein, ${role[as]}. Das Team entwickelt Apps für Mitglieder${brand ? ` von ${brand}` : ''}.`,
      `Bis zum ${day(expiresAt)} kann die Einladung nach dem Anmelden mit dieser E-Mail-Adresse angenommen oder abgelehnt werden.`,
    ],
    link: 'Anmelden',
  }),
  requestReceived: ({ name, isNew, isTeam }) => ({
    subject: `Antrag eingegangen: ${name}`,
    paragraphs: [
      isTeam
        ? `Der Antrag auf das Team „${name}“ ist eingegangen. Über die Entscheidung informiert eine weitere E-Mail.`
        : isNew
          ? `Der Antrag für den produktiven Client „${name}“ ist eingegangen. Bis er genehmigt ist, kann sich niemand mit ihm anmelden.`
          : `Die Änderungen an „${name}“ sind eingegangen. Bis sie genehmigt sind, gelten die bisherigen Werte.`,
    ],
    link: 'Antrag ansehen',
  }),
  requestApproved: ({ name, isNew, isTeam }) => ({
    subject: `Genehmigt: ${name}`,
    paragraphs: [
      isTeam
        ? `Das Team „${name}“ wurde genehmigt. Darin kann jetzt die erste App angelegt werden.`
        : isNew
          ? `Der produktive Client „${name}“ wurde genehmigt. Mitglieder können sich jetzt mit ihm anmelden.`
          : `Die Änderungen an „${name}“ wurden genehmigt und gelten jetzt.`,
    ],
    link: isTeam ? 'Team öffnen' : isNew ? 'Client ansehen' : 'Änderungen ansehen',
  }),
  requestRefused: ({ name, isNew, isTeam, reason }) => ({
    subject: `Nicht genehmigt: ${name}`,
    paragraphs: [
      isTeam
        ? `Der Antrag auf das Team „${name}“ wurde nicht genehmigt. Die Begründung:`
        : isNew
          ? `Der Antrag für den produktiven Client „${name}“ wurde nicht genehmigt. Die Begründung:`
          : `Die Änderungen an „${name}“ wurden nicht genehmigt, die bisherigen Werte gelten weiter. Die Begründung:`,
      reason,
      'Der Antrag bleibt erhalten und kann geändert erneut gestellt werden.',
    ],
    link: 'Antrag ändern',
  }),
  webhookFailing: ({ name, count, addresses }) => ({
    subject: `Webhook schlägt seit 24 Stunden fehl: ${name}`,
    paragraphs: [
      `Seit 24 Stunden ist kein Ereignis von „${name}“ bei ${count === 1 ? 'einem seiner Abonnements' : `${count} seiner Abonnements`} angekommen.`,
      ...listed(addresses),
      'Eine Zustellung wird etwa 28 Stunden nach dem ersten Versuch aufgegeben. Fehlgeschlagene Zustellungen können im Portal erneut gesendet werden.',
    ],
    link: 'Zustellungen ansehen',
  }),
  webhookEnded: ({ name, count, addresses }) => ({
    subject: `Webhook abgeschaltet: ${name}`,
    paragraphs: [
      `Der Empfänger ${count === 1 ? 'eines Abonnements' : `von ${count} Abonnements`} von „${name}“ hat mit 410 Gone geantwortet. Dorthin wird nichts mehr gesendet.`,
      ...listed(addresses),
      'War das ein Versehen, ist ein neues Abonnement nötig, sobald der Empfänger wieder funktioniert; eine Adresse lässt sich im Portal fortsetzen.',
    ],
    link: 'Zustellungen ansehen',
  }),
  secretExpiring: ({ name, expiresAt, isExpired }) => ({
    subject: isExpired ? `Client-Secret abgelaufen: ${name}` : `Client-Secret läuft am ${day(expiresAt)} ab: ${name}`,
    paragraphs: isExpired
      ? [
          `Das Secret des Clients „${name}“ ist am ${day(expiresAt)} abgelaufen. Der Server der App bekommt damit keine Tokens mehr.`,
          'Bitte ein neues Secret erstellen und auf dem Server hinterlegen.',
        ]
      : [
          `Das Secret des Clients „${name}“ läuft am ${day(expiresAt)} ab. Danach bekommt der Server der App damit keine Tokens mehr.`,
          'Bitte schon jetzt ein neues Secret erstellen: Bis dahin gelten beide, sodass der Wechsel ohne Unterbrechung möglich ist.',
        ],
    link: 'Secret erstellen',
  }),
  unexpected: 'Wer keine Einladung erwartet, kann diese E-Mail ignorieren: Ohne Anmeldung kommt niemand in ein Team.',
  because: (team) => `Diese E-Mail geht an alle, die sie im Team „${team}“ betrifft.`,
  becauseAsked: 'Diese E-Mail geht an die Person, die ein Team beantragt hat.',
  choose: 'E-Mails auswählen',
}
