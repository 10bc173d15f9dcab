ALTER TYPE "MemberEvent" ADD VALUE 'dataRequested';
