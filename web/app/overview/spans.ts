// The span of the overview, which stands in the address.
import { lastDays, type Span } from '../format/span';
import { dateOf, startOfDay } from '../format/time';
import { to } from '../shell/route';

export const spans = [['', 'This period'], ['last', 'Last period'], ['7d', '7 days'], ['30d', '30 days']] as const;
export type Key = (typeof spans)[number][0];

export const spanOf = (params: URLSearchParams): Key => spans.find(([key]) => key === params.get('span'))?.[0] ?? '';

export const toSpan = (key: Key): string => to('overview', key === '' ? {} : { span: key });

export const nameOf = (key: Key): string => spans.find(([one]) => one === key)![1];

/** The variables of a span that is no billing period: its instants, and one of the first day of as many days before. */
export function daysOf(key: Key, timeZone: string): { start: string; end: string; before: string } | null {
  const n = { '': 0, last: 0, '7d': 7, '30d': 30 }[key];
  if (n === 0) return null;
  const { from, to } = lastDays(n, timeZone);
  return { start: from, end: to, before: new Date(startOfDay(Date.parse(from), timeZone, { days: -n })).toISOString() };
}

/** The address of the question which subscribers have risen most in a span. */
export function toRisers(key: Key, { from, to: end }: Span, timeZone: string): string {
  const span = { '': 'THIS_PERIOD', last: 'DAYS', '7d': 'LAST_7_DAYS', '30d': 'LAST_30_DAYS' }[key];
  return to('usage', {
    chart: 'RISERS', split: 'SUBSCRIBER', compare: 'BEFORE', span, ...(span === 'DAYS' && { firstDay: dateOf(from, timeZone), lastDay: dateOf(Date.parse(end) - 1, timeZone) }),
  });
}
