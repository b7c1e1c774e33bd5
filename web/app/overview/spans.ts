// The span of the overview, which stands in the address.
import { lastDays, type Span } from '../format/span';
import { dateOf, startOfDay } from '../format/time';
import type { VariablesOf } from '../graph/graphql';
import { to } from '../shell/route';
import type { Period } from '../shell/viewer';
import type { changes } from './TopChanges';

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

/** What a span is compared with: the billing period before the one that runs, to the same day and hour, or as many days before. */
export function comparedOf(key: Key, { startsAt, endsAt }: Period, timeZone: string): VariablesOf<typeof changes> {
  const days = daysOf(key, timeZone);
  if (days) return { ...days, align: 'DATE', isLast: false };
  if (key === 'last') return { align: 'DATE', isLast: true };
  const now = lastDays(1, timeZone).to;
  return { start: startsAt, end: Date.parse(now) < Date.parse(endsAt) ? now : endsAt, before: new Date(Date.parse(startsAt) - 12 * 3_600_000).toISOString(), align: 'BILLING_PERIOD', isLast: false };
}

/** The span as a question of the view of usage has it. */
function asked(key: Key, { from, to: end }: Span, timeZone: string): Record<string, string> {
  const span = { '': 'THIS_PERIOD', last: 'DAYS', '7d': 'LAST_7_DAYS', '30d': 'LAST_30_DAYS' }[key];
  return { compare: 'BEFORE', span, ...(span === 'DAYS' && { firstDay: dateOf(from, timeZone), lastDay: dateOf(Date.parse(end) - 1, timeZone) }) };
}

/** The address of the question which subscribers have risen most in a span. */
export const toRisers = (key: Key, span: Span, timeZone: string): string => to('usage', { chart: 'RISERS', split: 'SUBSCRIBER', ...asked(key, span, timeZone) });

/** The address of the usage of a subscriber by day in a span and the one before. */
export const toUsageOf = (physicalId: string, key: Key, span: Span, timeZone: string): string => to('usage', { chart: 'BARS', subscriber: physicalId, ...asked(key, span, timeZone) });
