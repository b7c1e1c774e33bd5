// The spans of questions, in days of the company's zone.
import { atWallClock, dateOf, startOfDay, wallClock } from '../format/time';
import type { Period } from '../shell/viewer';
import type { Definition } from './question';

const hour = 3_600_000;
const dayLength = 86_400_000;

export interface Instants {
  from: number;
  to: number;
}

export interface Asked extends Instants {
  /** The span that it is compared with. */
  before: Instants | null;
  /** It has not ended yet. */
  isRunning: boolean;
}

/** The company, as far as spans need it. */
export interface Calendar {
  timeZone: string;
  billingDay: number;
  currentPeriod: Period;
}

// Days of the calendar are the noons of UTC that they have.
const noon = (year: number, month: number, day: number): number => Date.UTC(year, month, day, 12);
const textOf = (day: number): string => new Date(day).toISOString().slice(0, 10);
const dayOf = (text: string): number => Date.parse(`${text}T12:00:00Z`);
const plus = (day: number, days: number): number => day + days * dayLength;

/**
 * The first whole hour of UTC in a day. Usage is known by those: where midnight is at half an
 * hour, the hour around it belongs to the day before, as in the series of the graph.
 */
export function startOf(day: number, timeZone: string): number {
  const start = startOfDay(atWallClock(`${textOf(day)}T12:00`, timeZone), timeZone);
  return Math.ceil(start / hour) * hour;
}

/** The first day of the billing period that holds a day. */
function periodOf(day: number, billingDay: number): number {
  const at = new Date(day);
  const startIn = (months: number) => {
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months];
    return noon(year, month, Math.min(billingDay, new Date(Date.UTC(year, month + 1, 0)).getUTCDate()));
  };
  return startIn(0) <= day ? startIn(0) : startIn(-1);
}

/** The first day of a span, that after its last, and the first of the unit before it. */
function daysOf({ span, firstDay, lastDay }: Definition, today: number, { timeZone, billingDay, currentPeriod }: Calendar): [number, number, number] {
  const at = new Date(today);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  const monday = plus(today, -((at.getUTCDay() + 6) % 7));
  const months = (from: number, length: number): [number, number, number] => [noon(year, from, 1), noon(year, from + length, 1), noon(year, from - length, 1)];
  const last = (from: number, to: number): [number, number, number] => [from, to, from - (to - from)];
  switch (span) {
    case 'TODAY': return last(today, plus(today, 1));
    case 'YESTERDAY': return last(plus(today, -1), today);
    case 'THIS_WEEK': return last(monday, plus(monday, 7));
    case 'LAST_WEEK': return last(plus(monday, -7), monday);
    case 'LAST_7_DAYS': return last(plus(today, -6), plus(today, 1));
    case 'LAST_30_DAYS': return last(plus(today, -29), plus(today, 1));
    case 'THIS_MONTH': return months(month, 1);
    case 'LAST_MONTH': return months(month - 1, 1);
    case 'THIS_QUARTER': return months(month - (month % 3), 3);
    case 'LAST_QUARTER': return months(month - (month % 3) - 3, 3);
    case 'THIS_YEAR': return months(0, 12);
    case 'LAST_YEAR': return months(-12, 12);
    case 'DAYS': return last(dayOf(firstDay!), plus(dayOf(lastDay!), 1));
    case 'THIS_PERIOD': {
      const from = dayOf(dateOf(currentPeriod.startsAt, timeZone));
      return [from, dayOf(dateOf(currentPeriod.endsAt, timeZone)), periodOf(plus(from, -1), billingDay)];
    }
  }
}

const yearBefore = (day: number): number => {
  const at = new Date(day);
  return noon(at.getUTCFullYear() - 1, at.getUTCMonth(), at.getUTCDate());
};

/** When a question is about, by the clock now. A span that runs ends with the hour, as does what it is compared with. */
export function spanOf(d: Definition, calendar: Calendar, now = Date.now()): Asked {
  const { timeZone } = calendar;
  const today = dayOf(dateOf(now, timeZone));
  const [first, end, unitBefore] = daysOf(d, today, calendar);
  const from = startOf(first, timeZone);
  const nextHour = Math.ceil(now / hour) * hour;
  const isRunning = startOf(end, timeZone) > nextHour;
  const to = isRunning ? Math.max(from, nextHour) : startOf(end, timeZone);
  if (!d.compare) return { from, to, before: null, isRunning };
  const isYear = d.compare === 'YEAR_BEFORE';
  const former = isYear ? yearBefore(first) : unitBefore;
  const formerEnd = isYear ? yearBefore(end) : first;
  let until = startOf(formerEnd, timeZone);
  if (isRunning && to > from) {
    // The same time of the same day of it.
    const clock = wallClock(to, timeZone);
    const day = plus(former, Math.round((dayOf(clock.slice(0, 10)) - first) / dayLength));
    until = Math.min(until, Math.ceil(atWallClock(`${textOf(day)}T${clock.slice(11)}`, timeZone) / hour) * hour);
  }
  return { from, to, before: { from: startOf(former, timeZone), to: Math.max(until, startOf(former, timeZone)) }, isRunning };
}

/** The months of a span, of which each can be read record by record. */
export function monthsOf({ from, to }: Instants, timeZone: string): Instants[] {
  const parts: Instants[] = [];
  for (let at = from; at < to; ) {
    const [year, month] = dateOf(at, timeZone).split('-').map(Number) as [number, number];
    const next = Math.min(to, startOf(noon(year, month, 1), timeZone));
    // The hour around midnight may be the last of the month before.
    const end = next > at ? next : Math.min(to, startOf(noon(year, month + 1, 1), timeZone));
    parts.push({ from: at, to: end });
    at = end;
  }
  return parts;
}
