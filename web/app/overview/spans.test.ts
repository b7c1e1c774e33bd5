import { afterEach, expect, test, vi } from 'vitest';
import { definitionOf, faultOf } from '../usage/question';
import { daysOf, spanOf, spans, toRisers, toSpan } from './spans';

const paramsOf = (hash: string) => new URLSearchParams(hash.split('?')[1]);

afterEach(() => {
  vi.useRealTimers();
});

test('a span is read from the address that leads to it, and an unknown one is this period', () => {
  for (const [key] of spans) expect(spanOf(paramsOf(toSpan(key)))).toBe(key);
  expect(spanOf(new URLSearchParams('span=8d'))).toBe('');
});

test('seven days are today and six before, by the zone, and those before begin seven days earlier, over a change of clocks', () => {
  vi.useFakeTimers({ now: Date.parse('2026-10-27T10:30:00Z') });
  // The clocks of Berlin went back on 25 October.
  expect(daysOf('7d', 'Europe/Berlin')).toEqual({ start: '2026-10-20T22:00:00Z', end: '2026-10-27T11:00:00Z', before: '2026-10-13T22:00:00.000Z' });
  expect([daysOf('', 'Europe/Berlin'), daysOf('last', 'Europe/Berlin')]).toEqual([null, null]);
});

test('the question about what has risen can be asked for every span', () => {
  for (const [key] of spans) {
    const asked = definitionOf(paramsOf(toRisers(key, { from: '2026-09-30T22:00:00Z', to: '2026-10-31T23:00:00Z' }, 'Europe/Berlin')));
    expect([asked.chart, asked.split, asked.compare, faultOf(asked)]).toEqual(['RISERS', 'SUBSCRIBER', 'BEFORE', null]);
    if (key === 'last') expect([asked.firstDay, asked.lastDay]).toEqual(['2026-10-01', '2026-10-31']);
  }
});
