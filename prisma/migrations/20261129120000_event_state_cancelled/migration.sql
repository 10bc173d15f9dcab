ALTER TYPE "EventState" ADD VALUE 'cancelled';
