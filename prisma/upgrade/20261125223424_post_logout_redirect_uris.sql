-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "postLogoutRedirectUris" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[] CHECK (texts_fit(VARIADIC "postLogoutRedirectUris"));
