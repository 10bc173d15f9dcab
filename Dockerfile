# One image for the service, its worker, the migration and the operators' commands (docs/deployment.md).
# Another base image needs Node 20.19 or later, npm and a shell.
ARG BASE=node:24-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The types of the API are for packages; the first-party client's have its own.
RUN node build.mjs --if-changed --packages && rm -r dist/types

FROM ${BASE}
LABEL org.opencontainers.image.title=member-apps-api
# The service needs no writable file system: DATA_DIR is only used without SECRETS_KEY. Probes, first-party
# apps and the metrics scraper connect from other machines: keep the internal port off the internet. A worker
# answers the same probes at the same port.
ENV NODE_ENV=production DATA_DIR=/data INTERNAL_HOST=0.0.0.0 WORKER_PORT=3001
WORKDIR /app
COPY --from=build /app/dist dist
COPY prisma/functions prisma/functions
COPY prisma/migrations prisma/migrations
COPY prisma/upgrade prisma/upgrade
COPY package.json ./
COPY deploy/healthcheck.mjs deploy/
RUN printf '#!/bin/sh\nexec node /app/dist/server/commands/main.js "$@"\n' > /usr/local/bin/member-apps \
  && chmod 755 /usr/local/bin/member-apps \
  && mkdir /data && chown 10001:10001 /data
USER 10001:10001
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "deploy/healthcheck.mjs"]
CMD ["node", "dist/server/main.js"]
