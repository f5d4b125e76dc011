# Built by "docker build ." or, without an engine, as .ci/image does.
FROM node:24-bookworm-slim AS build
RUN command -v strip >/dev/null || { apt-get update && apt-get install -y --no-install-recommends binutils; }
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY .ci .ci
COPY docs docs
COPY migrations migrations
COPY src src
RUN node --no-warnings .ci/bundle.ts && .ci/assemble /image

FROM scratch AS program
COPY --from=build /image/ /
COPY --from=build --chown=1000:1000 /image/data /data
COPY --from=build --chown=1000:1000 /image/app/cache /app/cache
# Two arenas: with one for each thread, memory that was freed stays with the process.
ENV NODE_ENV=production PATH=/usr/local/bin NODE_COMPILE_CACHE=/app/cache MALLOC_ARENA_MAX=2
WORKDIR /app
USER 1000:1000

# The compiled code of the program, so that a start under a read-only root need not compile it.
FROM program AS warm
COPY .ci/warm.ts /tmp/warm.ts
RUN ["node", "--no-warnings", "/tmp/warm.ts"]

FROM program
COPY --from=warm /app/cache /app/cache
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["node", "src/watchpost.js", "health"]
ENTRYPOINT ["node", "src/watchpost.js"]
CMD ["run"]
