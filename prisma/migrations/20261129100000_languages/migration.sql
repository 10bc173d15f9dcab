ALTER TYPE "Language" ADD VALUE 'fr';
ALTER TYPE "Language" ADD VALUE 'it';
ALTER TYPE "Language" ADD VALUE 'nl';
ALTER TYPE "Language" ADD VALUE 'es';
