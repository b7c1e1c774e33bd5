import { expect, test } from 'vitest';

test('dates are written as the page shows them, and not as the browser does', () => {
  const sources = import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true });
  expect(Object.keys(sources).length).toBeGreaterThan(50);
  const native = Object.entries(sources).filter(([, text]) => /type=("|\{[^}]*')(date|datetime-local|month|week)\b/.test(text));
  expect(native.map(([file]) => file)).toEqual([]);
});
