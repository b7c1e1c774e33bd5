// Times are shown in one time zone, that of the company. Every function takes
// it, so that none falls back to UTC or to the zone of the browser.
const locale = 'en-GB';

export const day = (at: string | number | Date, timeZone: string): string =>
  new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone });

export const moment = (at: string | number | Date, timeZone: string): string =>
  new Date(at).toLocaleString(locale, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZone });

/** Such as "22 Nov 2026, 09:00 (Europe/Berlin)", where nothing else names the zone. */
export const momentInZone = (at: string | number | Date, timeZone: string): string => `${moment(at, timeZone)} (${timeZone})`;

// Swedish dates are those of ISO 8601.
const iso = (at: number, timeZone: string): string => new Date(at).toLocaleString('sv-SE', { timeZone });

/** The calendar day of an instant, such as 2026-11-22. */
export const dateOf = (at: string | number | Date, timeZone: string): string => iso(new Date(at).getTime(), timeZone).slice(0, 10);

/** By how many milliseconds the clocks of the zone are ahead of UTC at that instant. */
const offset = (at: number, timeZone: string): number => Date.parse(`${iso(at, timeZone).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000;

/** The first instant of the calendar day that lies some months and days from that of an instant. */
export function startOfDay(at: number, timeZone: string, { months = 0, days = 0, date }: { months?: number; days?: number; date?: number } = {}): number {
  const [year, month, today] = dateOf(at, timeZone).split('-').map(Number) as [number, number, number];
  const wall = Date.UTC(year, month - 1 + months, (date ?? today) + days);
  // Where clocks change in that night, the offset before and after differ.
  const guess = wall - offset(wall, timeZone);
  const start = wall - offset(guess, timeZone);
  return dateOf(start, timeZone) < new Date(wall).toISOString().slice(0, 10) ? guess : start;
}

/** What the clocks of the zone show, such as 2026-11-22T09:00. */
export const wallClock = (at: string | number | Date, timeZone: string): string => iso(new Date(at).getTime(), timeZone).slice(0, 16).replace(' ', 'T');

/** When the clocks of the zone show a time, such as 2026-11-22T09:00; NaN for what is no time. */
export function atWallClock(text: string, timeZone: string): number {
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return wall;
  return wall - offset(wall - offset(wall, timeZone), timeZone);
}

const dayLength = 86_400_000;

/** The number of calendar days from one instant to another. */
export const daysBetween = (from: string | number, to: string | number, timeZone: string): number =>
  Math.round((Date.parse(dateOf(to, timeZone)) - Date.parse(dateOf(from, timeZone))) / dayLength);

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600], ['month', 2_629_800], ['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Such as "3 hours ago". */
export function ago(at: string | Date, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const [unit, length] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? steps.at(-1)!;
  return relative.format(Math.trunc(seconds / length), unit);
}
