import type { Series } from '../chart/Plot';

/** A step of a series, as the graph answers it: bytes in decimal. */
export interface Point {
  start: string;
  mobileOriginated: string;
  mobileTerminated: string;
  total: string;
}

export interface Totals {
  mobileOriginated: string;
  mobileTerminated: string;
  total: string;
  sessions: string;
}

/** Points up to now: what is yet to come is not zero but unknown. */
export const past = (points: Point[] | null, now = Date.now()): Point[] => (points ?? []).filter(({ start }) => Date.parse(start) <= now);

export const timesOf = (points: Point[]): number[] => points.map(({ start }) => Date.parse(start) / 1000);

/** Received and sent as stacked bars: the bar of all stands behind that of the sent. */
export function stacked(points: (Point | undefined)[]): Series[] {
  const of = (key: 'mobileOriginated' | 'mobileTerminated' | 'total') => points.map((one) => (one ? Number(one[key]) : null));
  return [
    { label: 'Received (MT)', values: of('total'), shown: of('mobileTerminated'), kind: 'bars', color: '--series-1' },
    { label: 'Sent (MO)', values: of('mobileOriginated'), kind: 'bars', color: '--series-2' },
  ];
}

/** Rows of points for a download. */
export const rowsOf = (points: Point[]) => points.map(({ start, mobileOriginated, mobileTerminated, total }) => ({ start, mobileOriginated, mobileTerminated, total }));
