// What a question asks of the graph, and what its answer says.
import type { Definition } from './question';
import { ranks } from './question';
import { type Asked, type Instants, monthsOf } from './span';

/** How many series are drawn beside that of the others, and how many values are listed. */
const mostSeries = 8;
const mostListed = 100;

export interface Operation {
  query: string;
  variables: Record<string, unknown>;
}

const figures = { TOTAL: 'total', MOBILE_ORIGINATED: 'mobileOriginated', MOBILE_TERMINATED: 'mobileTerminated', SESSIONS: 'sessions' } as const;

const roots = {
  company: { declared: '', field: 'company' },
  group: { declared: '$groupId: Int!, ', field: 'group(by: {groupId: $groupId})' },
  tag: { declared: '$name: String!, ', field: 'tag(by: {name: $name})' },
  subscriber: { declared: '$physicalId: String!, ', field: 'subscriber(by: {physicalId: $physicalId})' },
};

const rootOf = ({ groupId, tagName, physicalId }: Definition) => (groupId !== null ? roots.group : tagName !== null ? roots.tag : physicalId !== null ? roots.subscriber : roots.company);

function subjectOf({ groupId, tagName, physicalId }: Definition): Record<string, unknown> {
  return groupId !== null ? { groupId } : tagName !== null ? { name: tagName } : physicalId !== null ? { physicalId } : {};
}

/** Usage by country and source is read record by record: month by month, where it is longer. */
const partsOf = (d: Definition, span: Instants, timeZone: string): Instants[] => (d.split === 'COUNTRY' || d.split === 'SOURCE' ? monthsOf(span, timeZone) : [span]);

/** What is selected of each usage. */
function fieldsOf(d: Definition, isBefore: boolean, isCut: boolean): string {
  const figure = figures[d.measure];
  const fields = [`totals { ${figure} }`];
  const listsParts = ranks(d) || (isBefore && d.split);
  if (!isBefore) fields.push('dataCompleteUntil');
  if (d.split === 'SUBSCRIBER') fields.push(`topSubscribers(first: ${mostListed}) { subscriber { physicalId nickname } ${figure} }`);
  else if (d.split && listsParts && d.measure === 'SESSIONS') fields.push(`seriesBy(by: ${d.split}, interval: MONTH, first: ${mostListed}, zeroFill: false) { value label isOthers ${figure} }`);
  else if (d.split && listsParts) fields.push(`breakdown(by: ${d.split}, first: ${mostListed}) { value label ${figure} }`);
  else if (d.split) fields.push(`seriesBy(by: ${d.split}, interval: ${d.interval}, first: ${isCut ? mostListed : mostSeries}) { value label isOthers ${figure} points { start ${figure} } }`);
  if (!ranks(d) && d.chart !== 'NUMBER' && (!d.split || isBefore)) fields.push(`series(interval: ${d.interval}) { start ${figure} }`);
  return fields.map((field) => `      ${field}`).join('\n');
}

/** The operation of a question. The graph answers nothing else than it shows. */
export function operationOf(d: Definition, asked: Asked, timeZone: string): Operation {
  const root = rootOf(d);
  const variables: Record<string, unknown> = subjectOf(d);
  const declared: string[] = [];
  const usages: string[] = [];
  const add = (name: string, span: Instants, isBefore: boolean) => {
    if (span.to <= span.from) return;
    const parts = partsOf(d, span, timeZone);
    parts.forEach((part, i) => {
      const alias = parts.length > 1 ? `${name}${i + 1}` : name;
      declared.push(`$${alias}Start: DateTime!, $${alias}End: DateTime!`);
      variables[`${alias}Start`] = new Date(part.from).toISOString().replace('.000', '');
      variables[`${alias}End`] = new Date(part.to).toISOString().replace('.000', '');
      usages.push(`    ${alias}: usage(start: $${alias}Start, end: $${alias}End) {\n${fieldsOf(d, isBefore, parts.length > 1)}\n    }`);
    });
  };
  add('asked', asked, false);
  if (asked.before) add('before', asked.before, true);
  // It has no text that is a document by itself: a test of this folder validates what it makes.
  const query = ['query Usage(', root.declared, declared.join(', '), `) {\n  of: ${root.field} {\n`, usages.join('\n'), '\n  }\n}\n'].join('');
  return { query, variables };
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
