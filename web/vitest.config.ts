import { defineConfig } from 'vitest/config';

// Operations are validated against docs/schema.graphql.
export default defineConfig({ server: { fs: { allow: ['..'] } }, test: { environment: 'happy-dom', include: ['app/**/*.test.ts'] } });
