import { expect, test } from 'vitest';
import { changedOf, textOf, wordsOf } from './stale';

test('only what is read again is compared, lists and objects by their values', () => {
  const shown = { name: 'a', groups: [{ groupId: 1 }], other: 1 };
  expect(changedOf(shown, { name: 'a', groups: [{ groupId: 1 }] })).toEqual([]);
  expect(changedOf(shown, { name: 'b', groups: [{ groupId: 2 }] })).toEqual(['name', 'groups']);
  expect(changedOf(shown, { name: 'b', groups: [{ groupId: 2 }] }, ['name', 'zone'])).toEqual(['name']);
});

test('values are said in words', () => {
  expect(wordsOf('isTariffHidden')).toBe('tariff hidden');
  expect([textOf(''), textOf(null), textOf([]), textOf(true), textOf('a'), textOf({ nodes: [{ name: 'Vans' }, { name: 'Meters' }] })]).toEqual(['none', 'none', 'none', 'yes', 'a', 'Vans, Meters']);
});
