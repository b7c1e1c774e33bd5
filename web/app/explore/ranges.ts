import type { Period } from '../shell/viewer';

export interface Range {
  from: string;
  to: string;
}

const hour = 3_600_000;
const day = 24 * hour;

/** Full hours, so that the same question asked again is the same request. */
const since = (length: number): Range => {
  const to = Math.ceil(Date.now() / hour) * hour;
  return { from: instant(to - length), to: instant(to) };
};
const instant = (at: number | string) => new Date(at).toISOString().replace('.000', '');

/** The calendar month before this one, in UTC. */
export function lastMonth(): Range {
  const now = new Date();
  return { from: instant(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)), to: instant(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)) };
}

export const lastDays = (n: number): Range => since(n * day);
export const thisPeriod = ({ start, end }: Period): Range => ({ from: instant(start), to: instant(end) });

export const presets: { name: string; range: (period: Period) => Range }[] = [
  { name: '24 h', range: () => since(day) },
  { name: '7 days', range: () => lastDays(7) },
  { name: '30 days', range: () => lastDays(30) },
  { name: 'This period', range: thisPeriod },
  { name: 'Last month', range: lastMonth },
];
