import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { operations } from './operations.ts';

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// A change of our own code must not touch the large chunks: the editor and the
// libraries have files of their own.
const chunks = [
  { name: 'preload', test: /vite\/preload-helper/, priority: 2 },
  { name: 'monaco', test: /node_modules\/(monaco-editor|monaco-graphql)\// },
  { name: 'swagger', test: /node_modules\/swagger-ui-dist\// },
  { name: 'prettier', test: /node_modules\/prettier\// },
  { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
  { name: 'plot', test: /node_modules\/uplot\// },
];

export default defineConfig({
  plugins: [operations(file('app')), react()],
  resolve: {
    alias: [
      // GraphiQL formats JSON with the parser of all of JavaScript; see format.ts.
      { find: /^prettier\/standalone$/, replacement: file('app/explore/prettier.ts') },
      { find: /^prettier\/plugins\/estree$/, replacement: file('app/explore/nothing.ts') },
      { find: /^prettier\/parser-babel$/, replacement: file('app/explore/nothing.ts') },
      { find: /^prettier\/parser-graphql$/, replacement: file('node_modules/prettier/plugins/graphql.mjs') },
    ],
  },
  worker: { format: 'es' },
  server: { proxy: { '/graphql': 'http://127.0.0.1:8080', '/oauth': 'http://127.0.0.1:8080', '/openapi.json': 'http://127.0.0.1:8080', '/page.json': 'http://127.0.0.1:8080' } },
  build: {
    outDir: 'build',
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4000,
    rolldownOptions: {
      onLog: (level, log, handle) => log.code === 'MODULE_LEVEL_DIRECTIVE' || handle(level, log),
      input: { index: file('index.html'), docs: file('docs.html'), handbook: file('docs/handbook.html') },
      output: { codeSplitting: { groups: chunks } },
    },
  },
});
