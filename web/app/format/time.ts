// Times are shown in the zone of the company where one is known, and never
// without saying so where that could mislead.
const locale = 'en-GB';

export const day = (at: string | Date, timeZone = 'UTC'): string =>
  new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone });

export const dayMonth = (at: string | Date, timeZone = 'UTC'): string =>
  new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'short', timeZone });

export const moment = (at: string | Date, timeZone = 'UTC'): string =>
  new Date(at).toLocaleString(locale, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZone });

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
