ALTER TYPE "MailKind" ADD VALUE 'accessGranted';
ALTER TYPE "MailKind" ADD VALUE 'accessReplayed';
ALTER TYPE "MailKind" ADD VALUE 'deviceAllowed';
