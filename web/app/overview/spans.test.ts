import { afterEach, expect, test, vi } from 'vitest';
import { definitionOf, faultOf } from '../usage/question';
import { comparedOf, daysOf, spanOf, spans, toRisers, toSpan, toUsageOf } from './spans';

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

test('the period that runs is compared to this hour with the one before, and not beyond its end', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-10T10:30:00Z') });
  const period = { startsAt: '2026-10-31T23:00:00Z', endsAt: '2026-11-30T23:00:00Z' };
  expect(comparedOf('', period, 'Europe/Berlin')).toEqual({ start: period.startsAt, end: '2026-11-10T11:00:00Z', before: '2026-10-31T11:00:00.000Z', align: 'BILLING_PERIOD', isLast: false });
  vi.setSystemTime(Date.parse('2026-12-02T00:00:00Z'));
  expect(comparedOf('', period, 'Europe/Berlin').end).toBe(period.endsAt);
  expect(comparedOf('last', period, 'Europe/Berlin')).toEqual({ align: 'DATE', isLast: true });
  expect(comparedOf('7d', period, 'Europe/Berlin')).toMatchObject({ ...daysOf('7d', 'Europe/Berlin'), align: 'DATE' });
});

test('the usage of a subscriber in every span can be asked', () => {
  for (const [key] of spans) {
    const asked = definitionOf(paramsOf(toUsageOf('89440000000000000001', key, { from: '2026-09-30T22:00:00Z', to: '2026-10-31T23:00:00Z' }, 'Europe/Berlin')));
    expect([asked.chart, asked.physicalId, asked.compare, faultOf(asked)]).toEqual(['BARS', '89440000000000000001', 'BEFORE', null]);
  }
});
