import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { Marked } from 'marked';
import { defineConfig, type Plugin } from 'vite';

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

const clients = file('../docs/clients.md');
const slug = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Writes docs/clients.md into the page that is served under /docs/clients. */
const documents: Plugin = {
  name: 'documents',
  transformIndexHtml(html) {
    if (!html.includes('<!-- docs/clients.md -->')) return html;
    const marked = new Marked({
      renderer: {
        heading({ tokens, depth, text }) {
          return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
        },
        // Wide code scrolls, also by the keyboard.
        code({ text, lang }) {
          const name = lang?.split(' ')[1];
          const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
          return `${name ? `<p class="file"><code>${name}</code></p>` : ''}<pre tabindex="0" aria-label="${name ?? (lang === 'text' ? 'Output' : 'Commands')}" role="group"><code>${escaped}</code></pre>\n`;
        },
      },
    });
    return html.replace('<!-- docs/clients.md -->', () => marked.parse(readFileSync(clients, 'utf8'), { async: false }));
  },
};

export default defineConfig({
  plugins: [react(), documents],
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
      input: { index: file('index.html'), docs: file('docs.html'), clients: file('docs/clients.html') },
      output: { codeSplitting: { groups: chunks } },
    },
  },
});
