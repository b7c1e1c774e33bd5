import { describe, expect, it } from 'vitest';
import shared from '../../../domain/report/testdata/spans.json';
import { type Definition, definitionOf } from './question';
import { type Calendar, monthsOf, spanOf } from './span';

const of = (change: Partial<Definition>): Definition => ({ ...definitionOf(new URLSearchParams({ span: 'TODAY' })), ...change });
const iso = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z');
const spanIn = (timeZone: string, now: string, change: Partial<Definition>, more: Partial<Calendar> = {}) => {
  const calendar = { timeZone, billingDay: 1, currentPeriod: { startsAt: '2026-11-01T00:00:00Z', endsAt: '2026-12-01T00:00:00Z' }, ...more };
  const { from, to, before } = spanOf(of(change), calendar, Date.parse(now));
  return [iso(from), iso(to), ...(before ? [iso(before.from), iso(before.to)] : [])];
};

describe('spans', () => {
  it('are those of the server, which answers reports', () => {
    for (const { now, period, want, isRunning, timeZone, billingDay, ...d } of shared) {
      const asked = spanOf(of(d as Partial<Definition>), { timeZone, billingDay, currentPeriod: { startsAt: period[0]!, endsAt: period[1]! } }, Date.parse(now));
      const { from, to, before } = asked;
      expect([iso(from), iso(to), ...(before ? [iso(before.from), iso(before.to)] : []), asked.isRunning], `${d.span} at ${now} in ${timeZone}`).toEqual([...want, isRunning]);
    }
  });
  it('have the days of the zone, over a change of clocks', () => {
    expect(spanIn('Europe/Berlin', '2026-10-26T10:00:00Z', { span: 'YESTERDAY' })).toEqual(['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z']);
    expect(spanIn('Europe/Berlin', '2026-11-05T10:00:00Z', { span: 'LAST_MONTH', compare: 'BEFORE' })).toEqual(['2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z', '2026-08-31T22:00:00Z', '2026-09-30T22:00:00Z']);
    expect(spanIn('America/St_Johns', '2026-11-02T12:00:00Z', { span: 'YESTERDAY' })).toEqual(['2026-11-01T03:00:00Z', '2026-11-02T04:00:00Z']);
  });
  it('that run end with the hour, and are compared to the same time', () => {
    expect(spanIn('Europe/Berlin', '2026-11-05T10:20:00Z', { span: 'THIS_WEEK', compare: 'BEFORE' })).toEqual(['2026-11-01T23:00:00Z', '2026-11-05T11:00:00Z', '2026-10-25T23:00:00Z', '2026-10-29T11:00:00Z']);
    expect(spanIn('Europe/Berlin', '2026-11-05T10:20:00Z', { span: 'THIS_QUARTER', compare: 'BEFORE' })).toEqual(['2026-09-30T22:00:00Z', '2026-11-05T11:00:00Z', '2026-06-30T22:00:00Z', '2026-08-05T10:00:00Z']);
  });
  it('are not compared with more than the unit before has', () => {
    expect(spanIn('UTC', '2026-03-31T10:20:00Z', { span: 'THIS_MONTH', compare: 'BEFORE' })).toEqual(['2026-03-01T00:00:00Z', '2026-03-31T11:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z']);
  });
  it('know the billing period before, also from a day that it does not have', () => {
    const currentPeriod = { startsAt: '2026-02-28T00:00:00Z', endsAt: '2026-03-31T00:00:00Z' };
    expect(spanIn('UTC', '2026-03-30T10:20:00Z', { span: 'THIS_PERIOD', compare: 'BEFORE' }, { billingDay: 31, currentPeriod })).toEqual(['2026-02-28T00:00:00Z', '2026-03-30T11:00:00Z', '2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z']);
  });
  it('from a day to a day hold both, and are compared with as many days, or those of a year before', () => {
    const days = { span: 'DAYS', firstDay: '2026-03-28', lastDay: '2026-03-29' } as const;
    expect(spanIn('Europe/Berlin', '2026-11-05T10:00:00Z', { ...days, compare: 'BEFORE' })).toEqual(['2026-03-27T23:00:00Z', '2026-03-29T22:00:00Z', '2026-03-25T23:00:00Z', '2026-03-27T23:00:00Z']);
    expect(spanIn('Europe/Berlin', '2026-11-05T10:00:00Z', { ...days, compare: 'YEAR_BEFORE' })).toEqual(['2026-03-27T23:00:00Z', '2026-03-29T22:00:00Z', '2025-03-27T23:00:00Z', '2025-03-29T23:00:00Z']);
  });
  it('are cut into months that share no hour', () => {
    for (const timeZone of ['Europe/Berlin', 'America/St_Johns', 'Pacific/Auckland']) {
      const { from, to } = spanOf(of({ span: 'LAST_QUARTER' }), { timeZone, billingDay: 1, currentPeriod: { startsAt: '', endsAt: '' } }, Date.parse('2027-01-05T00:00:00Z'));
      const parts = monthsOf({ from, to }, timeZone);
      expect(parts).toHaveLength(3);
      expect([parts[0]!.from, parts[2]!.to]).toEqual([from, to]);
      expect(parts.slice(1).map((part) => part.from)).toEqual(parts.slice(0, 2).map((part) => part.to));
      for (const part of parts) expect(part.to - part.from).toBeLessThanOrEqual((31 * 24 + 1) * 3_600_000);
    }
  });
});
