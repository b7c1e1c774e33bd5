import { expect, test } from 'vitest';
import { tabOf, toTab } from './tabs';

const of = (text: string) => tabOf(new URLSearchParams(text));

test('the address names the tab, and an unknown one is the first', () => {
  expect([of(''), of('tab=alerts'), of('tab=history&span=7d'), of('tab=nowhere')]).toEqual(['usage', 'alerts', 'history', 'usage']);
});

test('an address with a span of sessions shows them, as before there were tabs', () => {
  expect([of('from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z'), of('from=yesterday&to='), of('from=x&to=y&tab=usage')]).toEqual(['sessions', 'sessions', 'usage']);
});

test('an address of a tab keeps the span of the usage, and no span of sessions', () => {
  expect(toTab('1/2', 'alerts', new URLSearchParams('span=7d&from=x&to=y'))).toBe('#/subscribers/1%2F2?tab=alerts&span=7d');
  expect(toTab('1', 'usage', new URLSearchParams('tab=history'))).toBe('#/subscribers/1');
});
