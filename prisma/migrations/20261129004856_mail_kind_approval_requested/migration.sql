ALTER TYPE "MailKind" ADD VALUE 'approvalRequested';
