import type { Span } from '../format/span';

/** For how many days usage by source can be read at once. */
export const mostDays = 31;
const most = mostDays * 86_400_000;

/** The end of a span, as long as usage by source can be read at once, and whether that is less than all of it. */
export function bounded({ from, to }: Span): Span & { isCut: boolean } {
  const isCut = Date.parse(to) - Date.parse(from) > most;
  return { from: isCut ? new Date(Date.parse(to) - most).toISOString().replace('.000', '') : from, to, isCut };
}
