// A question about usage: in the address, in words, and whether it can be asked. The
// server holds the same rules for questions that are kept.
import type { VariablesOf } from '../graph/graphql';
import type { create } from './kept';

type Input = VariablesOf<typeof create>['input']['definition'];

/** What a question asks, as the graph has it. */
export interface Definition {
  measure: NonNullable<Input['measure']>;
  interval: NonNullable<Input['interval']>;
  split: Input['split'] | null;
  chart: NonNullable<Input['chart']>;
  span: Input['span'];
  firstDay: string | null;
  lastDay: string | null;
  compare: Input['compare'] | null;
  groupId: number | null;
  tagName: string | null;
  physicalId: string | null;
}

type Words<K> = [K, string][];

export const measures: Words<Definition['measure']> = [['TOTAL', 'Bytes'], ['MOBILE_TERMINATED', 'Bytes received (MT)'], ['MOBILE_ORIGINATED', 'Bytes sent (MO)'], ['SESSIONS', 'Sessions']];
export const intervals: Words<Definition['interval']> = [['HOUR', 'hour'], ['DAY', 'day'], ['WEEK', 'week'], ['MONTH', 'month']];
export const splits: Words<NonNullable<Definition['split']>> = [
  ['GROUP', 'group'], ['TAG', 'tag'], ['OPERATOR', 'operator'], ['TARIFF', 'tariff'], ['KIND', 'kind'], ['PROTOCOL', 'protocol'], ['COUNTRY', 'country'], ['SOURCE', 'source'], ['SUBSCRIBER', 'subscriber'],
];
export const charts: Words<Definition['chart']> = [
  ['LINE', 'Lines'], ['STACKED', 'Stacked'], ['BARS', 'Bars'], ['TOP', 'Top list'], ['RISERS', 'Risers'], ['NUMBER', 'Number'], ['TABLE', 'Table'], ['HEAT_MAP', 'Heat map'],
];
export const spans: Words<Definition['span']> = [
  ['TODAY', 'Today'], ['YESTERDAY', 'Yesterday'], ['THIS_WEEK', 'This week'], ['LAST_WEEK', 'Last week'], ['LAST_7_DAYS', '7 days'], ['LAST_30_DAYS', '30 days'], ['THIS_MONTH', 'This month'],
  ['LAST_MONTH', 'Last month'], ['THIS_QUARTER', 'This quarter'], ['LAST_QUARTER', 'Last quarter'], ['THIS_YEAR', 'This year'], ['LAST_YEAR', 'Last year'], ['THIS_PERIOD', 'This billing period'],
  ['DAYS', 'From … to …'],
];
export const comparisons: Words<NonNullable<Definition['compare']>> = [['BEFORE', 'the span before'], ['YEAR_BEFORE', 'a year before']];

export const nameOf = <K>(words: Words<K>, key: K | null): string => words.find(([one]) => one === key)?.[1] ?? '';

const first: Definition = {
  measure: 'TOTAL', interval: 'DAY', split: null, chart: 'BARS', span: 'THIS_PERIOD', firstDay: null, lastDay: null, compare: 'BEFORE', groupId: null, tagName: null, physicalId: null,
};

/** The words of the address. */
const words = { measure: measures, interval: intervals, split: splits, chart: charts, span: spans, compare: comparisons } as const;

/** What the address asks. What it does not say is as it is at first, and what it says wrong is not said. */
export function definitionOf(params: URLSearchParams): Definition {
  if (!params.has('span')) return first;
  const word = (key: keyof typeof words) => {
    const value = params.get(key);
    return (words[key] as Words<string>).some(([one]) => one === value) ? value : null;
  };
  const text = (key: string) => params.get(key)?.trim() || null;
  const group = text('group');
  return {
    measure: (word('measure') as Definition['measure']) ?? first.measure,
    interval: (word('interval') as Definition['interval']) ?? first.interval,
    split: word('split') as Definition['split'],
    chart: (word('chart') as Definition['chart']) ?? 'LINE',
    span: (word('span') as Definition['span']) ?? first.span,
    firstDay: text('firstDay'), lastDay: text('lastDay'),
    compare: word('compare') as Definition['compare'],
    groupId: group !== null && /^\d{1,9}$/.test(group) ? Number(group) : null,
    tagName: text('tag'), physicalId: text('subscriber'),
  };
}

/** The address of a question; question is which of the kept ones it began as. */
export function paramsOf(d: Definition, question: string | null = null): Record<string, string> {
  const all = {
    measure: d.measure, interval: d.interval, split: d.split, chart: d.chart, span: d.span, firstDay: d.firstDay, lastDay: d.lastDay, compare: d.compare,
    group: d.groupId === null ? null : String(d.groupId), tag: d.tagName, subscriber: d.physicalId, question,
  };
  return Object.fromEntries(Object.entries(all).filter((one): one is [string, string] => Boolean(one[1])));
}

export const same = (a: Definition, b: Definition): boolean => JSON.stringify(paramsOf(a)) === JSON.stringify(paramsOf(b));

const listed = (chart: Definition['chart']): boolean => chart === 'TOP' || chart === 'RISERS';

/** Whether the values of the split are listed, and not laid out over time. */
export const ranks = ({ chart, split }: Definition): boolean => listed(chart) || split === 'SUBSCRIBER';

const readByRecord = (split: Definition['split']): boolean => split === 'COUNTRY' || split === 'SOURCE';
const countsSessions = (split: Definition['split']): boolean => !readByRecord(split) && split !== 'PROTOCOL' && split !== 'SUBSCRIBER';
const whole = ['BARS', 'NUMBER', 'HEAT_MAP'];


/** The question with some parts changed, and others fitted to them so that it can be asked. */
export function changedTo(before: Definition, change: Partial<Definition>): Definition {
  const d = { ...before, ...change };
  if (d.physicalId !== null && d.split === 'SUBSCRIBER') d.split = null;
  if (d.measure === 'SESSIONS' && d.split && !countsSessions(d.split)) {
    if (change.measure) d.split = null;
    else d.measure = 'TOTAL';
  }
  if (change.chart && whole.includes(d.chart)) d.split = null;
  else if (change.chart && listed(d.chart)) d.split ??= 'GROUP';
  else if (change.chart && d.chart !== 'TABLE' && d.split === 'SUBSCRIBER') d.split = 'GROUP';
  if (d.split === 'SUBSCRIBER' && !listed(d.chart) && d.chart !== 'TABLE') d.chart = 'TOP';
  else if (d.split && whole.includes(d.chart)) d.chart = 'STACKED';
  else if (!d.split && listed(d.chart)) d.chart = 'BARS';
  if (d.chart === 'RISERS' && !d.compare) {
    if (change.compare === null) d.chart = 'TOP';
    else d.compare = 'BEFORE';
  }
  if (d.chart === 'HEAT_MAP') d.interval = 'HOUR';
  if (d.span !== 'DAYS') d.firstDay = d.lastDay = null;
  return d;
}

const isDay = (text: string | null): text is string => text !== null && /^(19[7-9]\d|20\d\d|21\d\d)-\d\d-\d\d$/.test(text) && new Date(`${text}T12:00:00Z`).toISOString().startsWith(text);
const dayLength = 86_400_000;

/** How many days the span has at most. */
function daysOf({ span, firstDay, lastDay }: Definition): number {
  if (span === 'DAYS') return (Date.parse(lastDay!) - Date.parse(firstDay!)) / dayLength + 1;
  return span.endsWith('QUARTER') ? 92 : span.endsWith('YEAR') ? 366 : 31;
}

/** Why a question cannot be asked, or null. */
export function faultOf(d: Definition): string | null {
  if (d.span === 'DAYS') {
    if (!isDay(d.firstDay) || !isDay(d.lastDay)) return 'Choose the first and the last day.';
    if (d.lastDay < d.firstDay) return 'The last day is before the first.';
    if (daysOf(d) > 4_000) return 'A span has at most 4,000 days.';
  }
  const days = daysOf(d);
  if (d.interval === 'HOUR' && days > 100) return 'Hours are shown of at most 100 days. Choose a shorter span, or days.';
  if (readByRecord(d.split ?? null) && days > 92) return `Usage by ${nameOf(splits, d.split ?? null)} is read record by record, of at most 92 days. Choose a shorter span.`;
  if (d.measure === 'SESSIONS' && !countsSessions(d.split ?? null)) return `It is not known which sessions belong to which ${nameOf(splits, d.split ?? null)}. Ask for bytes.`;
  if (whole.includes(d.chart) && d.split) return `${nameOf(charts, d.chart)} shows no split.`;
  if (listed(d.chart) && !d.split) return 'Choose what to list.';
  if (d.chart === 'RISERS' && !d.compare) return 'Choose what to compare with.';
  if (d.chart === 'HEAT_MAP' && d.interval !== 'HOUR') return 'A heat map is of hours.';
  if (d.split === 'SUBSCRIBER' && (d.chart === 'LINE' || d.chart === 'STACKED')) return 'Subscribers are listed, not drawn over time.';
  if (d.split === 'SUBSCRIBER' && d.physicalId !== null) return 'The usage of one subscriber is not split by subscriber.';
  if ([d.groupId, d.tagName, d.physicalId].filter((one) => one !== null).length > 1) return 'Choose one of a group, a tag and a subscriber.';
  return null;
}

/** The question as people read it. */
export function inWords(d: Definition, group?: string): string {
  const of = d.groupId !== null ? ` of the group ${group ?? d.groupId}` : d.tagName !== null ? ` of the tag ${d.tagName}` : d.physicalId !== null ? ` of ${d.physicalId}` : '';
  const by = d.split ? ` by ${nameOf(splits, d.split)}` : '';
  const step = d.chart === 'HEAT_MAP' ? ' by hour and weekday' : ranks(d) || d.chart === 'NUMBER' ? '' : ` by ${nameOf(intervals, d.interval)}`;
  const span = d.span === 'DAYS' ? (d.firstDay === d.lastDay ? `${d.firstDay}` : `${d.firstDay} to ${d.lastDay}`) : nameOf(spans, d.span).toLowerCase();
  return `${nameOf(measures, d.measure)}${of}${by}${step}, ${span}${d.compare ? `, against ${nameOf(comparisons, d.compare)}` : ''}`;
}
