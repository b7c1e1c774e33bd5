// Spans of time to choose from. Days and months are those of the company's zone.
import { startOfDay } from './time';

export interface Span {
  from: string;
  to: string;
}

const hour = 3_600_000;

// Up to the next full hour, so that equal spans within an hour are equal requests.
const nextHour = () => Math.ceil(Date.now() / hour) * hour;
const instant = (at: number | string) => new Date(at).toISOString().replace('.000', '');
const span = (from: number, to: number): Span => ({ from: instant(from), to: instant(to) });

export const lastHours = (n: number): Span => span(nextHour() - n * hour, nextHour());

/** Today so far, and whole days before: n in sum. */
export const lastDays = (n: number, timeZone: string): Span => span(startOfDay(Date.now(), timeZone, { days: 1 - n }), nextHour());

/** This month so far, and whole months before: n in sum. */
export const lastMonths = (n: number, timeZone: string): Span => span(startOfDay(Date.now(), timeZone, { date: 1, months: 1 - n }), nextHour());

/** The calendar month before this one. */
export const lastMonth = (timeZone: string): Span =>
  span(startOfDay(Date.now(), timeZone, { date: 1, months: -1 }), startOfDay(Date.now(), timeZone, { date: 1 }));

export const periodSpan = ({ startsAt, endsAt }: { startsAt: string; endsAt: string }): Span => ({ from: instant(startsAt), to: instant(endsAt) });
