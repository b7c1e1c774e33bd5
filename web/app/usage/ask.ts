// What a question asks of the graph, and what its answer says.
import { type Document, operation } from '../graph/graphql';
import type { Definition } from './question';
import { ranks } from './question';
import { type Asked, type Instants, monthsOf } from './span';

/** How many series are drawn beside that of the others, and how many values are listed. */
const mostSeries = 8;
const mostListed = 100;

/** An operation of the page, and its variables. */
export interface Operation {
  document: Document;
  variables: Record<string, unknown>;
}

const figures = { TOTAL: 'total', MOBILE_ORIGINATED: 'mobileOriginated', MOBILE_TERMINATED: 'mobileTerminated', SESSIONS: 'sessions' } as const;

// One operation for each subject has all that can be asked, and variables choose of it. The 92 days
// that can be read record by record are of five months at most.
const bytes = 'total @include(if: $total) mobileOriginated @include(if: $mobileOriginated) mobileTerminated @include(if: $mobileTerminated)';
const measured = `${bytes} sessions @include(if: $sessions)`;
const fields = `fragment Asked on Usage {
  totals { ${measured} }
  dataCompleteUntil
  topSubscribers(first: ${mostListed}) @include(if: $topSubscribers) { subscriber { physicalId nickname } ${bytes} }
  breakdown(by: $by, first: ${mostListed}) @include(if: $breakdown) { value label ${bytes} }
  seriesBy(by: $by, interval: $every, first: $first, zeroFill: $points) @include(if: $seriesBy) { value label isOthers ${measured} points @include(if: $points) { start ${measured} } }
  series(interval: $interval) @include(if: $series) { start ${measured} }
}
fragment Before on Usage {
  totals { ${measured} }
  topSubscribers(first: ${mostListed}) @include(if: $topSubscribers) { subscriber { physicalId nickname } ${bytes} }
  breakdown(by: $by, first: ${mostListed}) @include(if: $breakdownBefore) { value label ${bytes} }
  seriesBy(by: $by, interval: MONTH, first: ${mostListed}, zeroFill: false) @include(if: $seriesByBefore) { value label isOthers sessions }
  series(interval: $interval) @include(if: $seriesBefore) { start ${measured} }
}`;
const declared = `$total: Boolean! = false, $mobileOriginated: Boolean! = false, $mobileTerminated: Boolean! = false, $sessions: Boolean! = false,
  $by: UsageDimension! = GROUP, $interval: UsageInterval! = DAY, $every: UsageInterval! = DAY, $first: Int! = ${mostSeries}, $points: Boolean! = false,
  $topSubscribers: Boolean! = false, $breakdown: Boolean! = false, $seriesBy: Boolean! = false, $series: Boolean! = false,
  $breakdownBefore: Boolean! = false, $seriesByBefore: Boolean! = false, $seriesBefore: Boolean! = false,
  $asked1: Boolean! = false, $asked1Start: DateTime, $asked1End: DateTime, $before1: Boolean! = false, $before1Start: DateTime, $before1End: DateTime,
  $asked2: Boolean! = false, $asked2Start: DateTime, $asked2End: DateTime, $before2: Boolean! = false, $before2Start: DateTime, $before2End: DateTime,
  $asked3: Boolean! = false, $asked3Start: DateTime, $asked3End: DateTime, $before3: Boolean! = false, $before3Start: DateTime, $before3End: DateTime,
  $asked4: Boolean! = false, $asked4Start: DateTime, $asked4End: DateTime, $before4: Boolean! = false, $before4Start: DateTime, $before4End: DateTime,
  $asked5: Boolean! = false, $asked5Start: DateTime, $asked5End: DateTime, $before5: Boolean! = false, $before5Start: DateTime, $before5End: DateTime`;
const usages = `{
    asked1: usage(start: $asked1Start, end: $asked1End) @include(if: $asked1) { ...Asked }
    asked2: usage(start: $asked2Start, end: $asked2End) @include(if: $asked2) { ...Asked }
    asked3: usage(start: $asked3Start, end: $asked3End) @include(if: $asked3) { ...Asked }
    asked4: usage(start: $asked4Start, end: $asked4End) @include(if: $asked4) { ...Asked }
    asked5: usage(start: $asked5Start, end: $asked5End) @include(if: $asked5) { ...Asked }
    before1: usage(start: $before1Start, end: $before1End) @include(if: $before1) { ...Before }
    before2: usage(start: $before2Start, end: $before2End) @include(if: $before2) { ...Before }
    before3: usage(start: $before3Start, end: $before3End) @include(if: $before3) { ...Before }
    before4: usage(start: $before4Start, end: $before4End) @include(if: $before4) { ...Before }
    before5: usage(start: $before5Start, end: $before5End) @include(if: $before5) { ...Before }
  }`;
const ofCompany = operation(`query Usage(${declared}) {
  of: company ${usages}
}
${fields}`);
const ofGroup = operation(`query Usage($groupId: Int!, ${declared}) {
  of: group(by: {groupId: $groupId}) ${usages}
}
${fields}`);
const ofTag = operation(`query Usage($name: String!, ${declared}) {
  of: tag(by: {name: $name}) ${usages}
}
${fields}`);
const ofSubscriber = operation(`query Usage($physicalId: String!, ${declared}) {
  of: subscriber(by: {physicalId: $physicalId}) ${usages}
}
${fields}`);

const documentOf = ({ groupId, tagName, physicalId }: Definition) => (groupId !== null ? ofGroup : tagName !== null ? ofTag : physicalId !== null ? ofSubscriber : ofCompany);

function subjectOf({ groupId, tagName, physicalId }: Definition): Record<string, unknown> {
  return groupId !== null ? { groupId } : tagName !== null ? { name: tagName } : physicalId !== null ? { physicalId } : {};
}

/** Usage by country and source is read record by record: month by month, where it is longer. */
const partsOf = (d: Definition, span: Instants, timeZone: string): Instants[] => (d.split === 'COUNTRY' || d.split === 'SOURCE' ? monthsOf(span, timeZone) : [span]);

/** What is chosen of the span and, where there is one, of that before. */
function chosen(d: Definition, isCut: boolean, isCompared: boolean): Record<string, unknown> {
  const figure = { [figures[d.measure]]: true };
  if (d.split === 'SUBSCRIBER') return { ...figure, topSubscribers: true };
  const isDrawn = !ranks(d) && d.chart !== 'NUMBER';
  if (!d.split) return { ...figure, ...(isDrawn && { interval: d.interval, series: true, seriesBefore: isCompared }) };
  const lists = d.measure === 'SESSIONS' ? 'seriesBy' : 'breakdown';
  const before = isCompared && { [`${lists}Before`]: true, ...(isDrawn && { interval: d.interval, seriesBefore: true }) };
  if (!ranks(d)) return { ...figure, by: d.split, seriesBy: true, points: true, every: d.interval, first: isCut ? mostListed : mostSeries, ...before };
  return { ...figure, by: d.split, [lists]: true, ...(lists === 'seriesBy' && { every: 'MONTH', first: mostListed }), ...before };
}

/** The operation of a question. The graph answers nothing else than it shows. */
export function operationOf(d: Definition, asked: Asked, timeZone: string): Operation {
  const spans: Record<string, unknown> = {};
  let isCut = false;
  const add = (name: string, span: Instants) => {
    if (span.to <= span.from) return;
    const parts = partsOf(d, span, timeZone);
    if (name === 'asked') isCut = parts.length > 1;
    parts.forEach((part, i) => {
      const alias = `${name}${i + 1}`;
      spans[alias] = true;
      spans[`${alias}Start`] = new Date(part.from).toISOString().replace('.000', '');
      spans[`${alias}End`] = new Date(part.to).toISOString().replace('.000', '');
    });
  };
  add('asked', asked);
  if (asked.before) add('before', asked.before);
  return { document: documentOf(d), variables: { ...subjectOf(d), ...spans, ...chosen(d, isCut, asked.before !== null) } };
}

type Figures = { total?: string; mobileOriginated?: string; mobileTerminated?: string; sessions?: string | null };
type Point = Figures & { start: string };
type Value = Figures & { value: string | null; label: string | null; isOthers?: boolean; points?: Point[] };

interface Usage {
  totals: Figures | null;
  dataCompleteUntil?: string | null;
  series?: Point[] | null;
  seriesBy?: Value[] | null;
  breakdown?: Value[] | null;
  topSubscribers?: (Figures & { subscriber: { physicalId: string; nickname: string } | null })[] | null;
}

/** The usages of an answer by their aliases; null where the caller sees no such group, tag or subscriber. */
export interface Answer {
  of: Record<string, Usage | null> | null;
}

/** What falls to one value of the split, or to all where there is none. */
export interface Part {
  key: string;
  value: string | null;
  label: string;
  isOthers: boolean;
  total: number;
  /** In the span that it is compared with; undefined where it was not listed, and then at most atMost. */
  before?: number;
  atMost?: number;
  /** By step. */
  values: (number | null)[];
}

export interface Result {
  /** The first instants of the steps, in milliseconds. */
  times: number[];
  parts: Part[];
  total: number;
  before?: { total: number; values: number[] };
  completeUntil: string | null;
  /** There may be values beside those that were listed. */
  isCut: boolean;
}

const none: Record<string, string> = { GROUP: 'no group', TAG: 'no tag', TARIFF: 'no tariff, or a hidden one', COUNTRY: 'no known network', SOURCE: 'no source' };

/** The values of several spans together. */
function together(usages: Usage[], d: Definition, figureOf: (of: Figures) => number): { parts: Map<string, Part & { points: Map<number, number> }>; isCut: boolean } {
  const parts = new Map<string, Part & { points: Map<number, number> }>();
  let isCut = false;
  for (const usage of usages) {
    const subscribers = usage.topSubscribers?.map((one) => ({ ...one, value: one.subscriber?.physicalId ?? null, label: one.subscriber?.nickname || one.subscriber?.physicalId || null }));
    const values: Value[] = usage.seriesBy ?? usage.breakdown ?? subscribers ?? [];
    isCut ||= values.length >= mostListed;
    for (const one of values) {
      const key = one.isOthers ? 'others' : one.value === null ? 'none' : `=${one.value}`;
      const part = parts.get(key) ?? {
        key, value: one.value, label: one.isOthers ? 'others' : (one.label ?? one.value ?? none[d.split ?? ''] ?? 'none'), isOthers: one.isOthers ?? false, total: 0, values: [], points: new Map<number, number>(),
      };
      part.total += figureOf(one);
      for (const point of one.points ?? []) part.points.set(Date.parse(point.start), (part.points.get(Date.parse(point.start)) ?? 0) + figureOf(point));
      parts.set(key, part);
    }
  }
  return { parts, isCut };
}

const hour = 3_600_000;

/** Reads an answer. What is yet to come is not zero but unknown, and left out, as is a day that begins in the last half hour of the span. */
export function resultOf({ of }: Answer, d: Definition, asked: Asked, now = Date.now()): Result | null {
  if (of === null) return null;
  const figure = figures[d.measure];
  const figureOf = (one: Figures): number => Number(one[figure] ?? 0);
  const named = (name: string) => Object.entries(of).filter(([alias, usage]) => alias.startsWith(name) && usage !== null).map(([, usage]) => usage!);
  const found = named('asked');
  const before = named('before');
  const begins = (at: number, { to }: Instants) => Math.ceil(at / hour) * hour < to;
  const sum = (usages: Usage[]) => usages.reduce((all, { totals }) => all + (totals ? figureOf(totals) : 0), 0);
  const { parts, isCut } = together(found, d, figureOf);
  const times = [...new Set(found.flatMap(({ series, seriesBy }) => [...(series ?? []), ...(seriesBy ?? []).flatMap(({ points }) => points ?? [])].map(({ start }) => Date.parse(start))))].filter((at) => at <= now && begins(at, asked)).sort((a, b) => a - b);
  const seriesOf = (usages: Usage[]) => {
    const points = new Map<number, number>();
    for (const { series } of usages) for (const point of series ?? []) points.set(Date.parse(point.start), (points.get(Date.parse(point.start)) ?? 0) + figureOf(point));
    return points;
  };
  const total = sum(found);
  let all: Part[];
  if (d.split) all = fewer([...parts.values()].map(({ points, ...part }) => ({ ...part, values: times.map((at) => points.get(at) ?? 0) })), ranks(d));
  else {
    const points = seriesOf(found);
    all = [{ key: 'all', value: null, label: 'all', isOthers: false, total, values: times.map((at) => points.get(at) ?? 0) }];
  }
  const result: Result = { times, parts: all, total, completeUntil: found[0]?.dataCompleteUntil ?? null, isCut };
  if (before.length === 0 || !asked.before) return result;
  const span = asked.before;
  const former = together(before, d, figureOf);
  const least = Math.min(...[...former.parts.values()].filter(({ isOthers }) => !isOthers).map(({ total }) => total));
  for (const part of all) {
    if (!d.split) part.before = sum(before);
    else if (!part.isOthers) {
      part.before = former.parts.get(part.key)?.total ?? (former.isCut ? undefined : 0);
      if (part.before === undefined) part.atMost = least;
    }
  }
  if (d.chart === 'RISERS') for (const [key, { points, ...part }] of former.parts) if (!parts.has(key) && !part.isOthers && !isCut) all.push({ ...part, total: 0, before: part.total });
  result.before = { total: sum(before), values: [...seriesOf(before)].filter(([at]) => begins(at, span)).sort(([a], [b]) => a - b).map(([, value]) => value) };
  if (d.chart === 'RISERS') all.sort((a, b) => risen(b) - risen(a));
  return result;
}

/** By how much a part is more than before, at least. */
export const risen = ({ total, before, atMost }: Part): number => total - (before ?? atMost ?? total);

/** The largest parts, and the others in one, as the graph gives them of one span. */
function fewer(parts: Part[], listed: boolean): Part[] {
  const sorted = parts.sort((a, b) => Number(a.isOthers) - Number(b.isOthers) || b.total - a.total);
  if (listed || sorted.filter(({ isOthers }) => !isOthers).length <= mostSeries) return sorted;
  const rest = sorted.slice(mostSeries);
  return [...sorted.slice(0, mostSeries), {
    key: 'others', value: null, label: 'others', isOthers: true, total: rest.reduce((all, { total }) => all + total, 0), values: rest[0]!.values.map((_, i) => rest.reduce((all, { values }) => all + (values[i] ?? 0), 0)),
  }];
}
