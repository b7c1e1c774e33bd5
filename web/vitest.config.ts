import { defineConfig } from 'vitest/config';

// Operations are validated against docs/schema.graphql. A test that reads all of them takes more
// than the usual 5 s on a busy machine.
export default defineConfig({ server: { fs: { allow: ['..'] } }, test: { environment: 'happy-dom', include: ['app/**/*.test.ts'], testTimeout: 60_000 } });
