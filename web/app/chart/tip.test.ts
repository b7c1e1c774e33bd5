import { expect, test } from 'vitest';
import { rowsOf, type Values } from './tip';

const series = (label: string, value: number | null, compared = false): Values => ({ label, color: '#123456', at: () => value, compared });
const rows = (of: Values[], sums: boolean) => rowsOf(of, 0, sums, String).map(({ label, text }) => `${label}: ${text}`);

test('values of a step stand by size, with shares and their total', () => {
  expect(rows([series('small', 10), series('large', 30)], true)).toEqual(['large: 30 · 75 %', 'small: 10 · 25 %', 'Total: 40']);
});

test('what is compared counts in no total', () => {
  expect(rows([series('now', 10), series('before', 30, true)], true)).toEqual(['now: 10', 'before: 30']);
});

test('a step without a value shows none, and zeros have no share', () => {
  expect(rows([series('now', null)], true)).toEqual([]);
  expect(rows([series('a', 0), series('b', 0)], true)).toEqual(['a: 0', 'b: 0', 'Total: 0']);
});

test('values that do not add up have no total', () => {
  expect(rows([series('threshold', 10), series('usage', 30)], false)).toEqual(['usage: 30', 'threshold: 10']);
});

test('of many the largest are named, and the others are one row', () => {
  const many = Array.from({ length: 12 }, (_, i) => series(`s${i}`, i + 1));
  const shown = rows(many, true);
  expect(shown).toHaveLength(11);
  expect(shown.at(-2)).toBe('3 others: 6 · 8 %');
  expect(shown.at(-1)).toBe('Total: 78');
});
