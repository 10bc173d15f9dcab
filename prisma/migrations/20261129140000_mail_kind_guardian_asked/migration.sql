ALTER TYPE "MailKind" ADD VALUE 'guardianAsked';
