import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test, vi } from 'vitest';

vi.mock('../shell/viewer', () => ({ useZone: () => 'Europe/Berlin' }));

test('dates are written as the page shows them, and not as the browser does', () => {
  const sources = import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true });
  expect(Object.keys(sources).length).toBeGreaterThan(50);
  const native = Object.entries(sources).filter(([, text]) => /type=("|\{[^}]*')(date|datetime-local|month|week)\b/.test(text));
  expect(native.map(([file]) => file)).toEqual([]);
});

test('each field of a date is shown without a value and with one', async () => {
  const fields = Object.entries(await import('./Dates'));
  expect(fields.length).toBeGreaterThan(1);
  for (const [name, Shown] of fields) {
    for (const value of ['', '2026-11-22', '2026-11-22T09:00', 'no date']) {
      expect(renderToString(createElement(Shown, { label: name, value, change: () => undefined })), value).toContain(name);
    }
  }
});
