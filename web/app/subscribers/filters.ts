// The conditions of the list of subscribers: in the address, in words, and as the
// graph takes them. In the address each is where=FIELD.OPERATOR.VALUE.
import { startOfDay } from '../format/time';
import { parseBytes } from '../format/units';
import type { VariablesOf } from '../graph/graphql';
import { changed } from '../shell/route';
import type { query } from './columns';
import { type Field, fieldOf, operatorsOf } from './fields';

export interface Condition {
  field: string;
  operator: string;
  value: string;
}

export type Filter = NonNullable<VariablesOf<typeof query>['filter']>;

/** The states that one click chooses. */
export const states: Record<string, { name: string; filter: (now: number) => Filter }> = {
  active: { name: 'Active', filter: () => ({ isActive: { eq: true } }) },
  online: { name: 'Online', filter: () => ({ networkState: { isOnline: { eq: true } } }) },
  transferring: { name: 'Transferring', filter: () => ({ networkState: { isTransferring: { eq: true } } }) },
  barred: { name: 'Barred', filter: () => ({ isBarred: { eq: true } }) },
  silent: { name: 'Silent 24 h', filter: (now) => silentFor(24, now) },
};

const minute = 60_000;

/** The moment so many hours ago, by the minute. */
const hoursAgo = (hours: number, now: number) => new Date(Math.floor(now / minute) * minute - hours * 60 * minute).toISOString();

/** Those in use that were not seen for so long, as alerts on silence count them: one that never was counts from its connection. */
function silentFor(hours: number, now: number): Filter {
  const since = { lt: hoursAgo(hours, now) };
  return {
    isActive: { eq: true }, isBarred: { eq: false }, terminateDate: { eq: null }, connectionDate: since,
    not: { related: { parent: { isEnabledOnParent: { eq: false } } } },
    or: [{ lastSeenAt: since }, { lastSeenAt: { eq: null } }],
  };
}

const searched = ['physicalId', 'subscriberId', 'nickname', 'imsi'] as const;

/** Separates the values of a list. */
const comma = /\s*,\s*/;

/** The conditions in the address. What it does not say in full is left out. */
export function conditionsOf(params: URLSearchParams): Condition[] {
  const short = [['search', 'search', 'like'], ['tag', 'tags', 'eq'], ['group', 'groupId', 'eq']].flatMap(([key, field, operator]) =>
    params.getAll(key!).filter(Boolean).map((value) => ({ field: field!, operator: operator!, value })));
  return [...short, ...params.getAll('where').flatMap(conditionOf)];
}

function conditionOf(text: string): Condition[] {
  const [, key = '', operator = '', value = ''] = /^([^.]*)\.([^.]*)\.?([^]*)$/.exec(text) ?? [];
  const field = fieldOf(key);
  const known = field && operatorsOf(field).find((one) => one.key === operator);
  return known && (known.bare || value !== '') ? [{ field: key, operator, value: known.bare ? '' : choiceOf(field, value) }] : [];
}

/** The value as the graph writes it. Links of before have choices in lower case, as non-ip. */
function choiceOf({ choices }: Field, value: string): string {
  const name = value.toUpperCase().replace('-', '_');
  return choices?.some(([choice]) => choice === name) ? name : value;
}

/** The address with these conditions. */
export function withConditions(params: URLSearchParams, conditions: Condition[]): URLSearchParams {
  const search = conditions.filter(({ field }) => field === 'search').map(({ value }) => value);
  const where = conditions.filter(({ field }) => field !== 'search').map(({ field, operator, value }) => [field, operator, ...(value === '' ? [] : [value])].join('.'));
  return changed(params, { search, where, tag: null, group: null });
}

/** Why a value cannot be compared with, or null. */
export function faultOf({ kind, choices }: Field, value: string): string | null {
  if (choices && !choices.some(([choice]) => choice === value)) return 'Choose one of the list.';
  if (kind === 'bytes' && parseBytes(value) === null) return 'Write a volume such as 500 MB or 1.5 GB.';
  if (kind === 'number' && !/^\s*-?\d{1,18}\s*$/.test(value)) return 'Write a whole number.';
  if (kind === 'group' && !/^\d{1,9}$/.test(value)) return 'Choose a group, or write its number.';
  if (kind === 'date' && !isDay(value)) return 'Choose a day.';
  return value.trim() === '' ? 'Write what to compare with.' : null;
}

/** Whether it is a day of the calendar, such as 2026-11-22, in a year of four digits like the one after. */
function isDay(value: string): boolean {
  const at = /^[1-9]\d{3}-\d\d-\d\d$/.test(value) && value < '9999' ? Date.parse(`${value}T12:00:00Z`) : NaN;
  // A day that its month does not have is read as one of the next month.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(value);
}

/** The state and the conditions as the graph takes them; all must hold. */
export function filterOf(params: URLSearchParams, timeZone: string, now = Date.now()): Filter | undefined {
  const key = params.get('state') ?? '';
  const state = Object.hasOwn(states, key) ? states[key] : undefined;
  const all = conditionsOf(params).flatMap((condition) => partOf(condition, timeZone, now));
  if (state) all.unshift(state.filter(now));
  return all.length > 0 ? { and: all } : undefined;
}

function partOf({ field: key, operator, value }: Condition, timeZone: string, now: number): Filter[] {
  if (key === 'search') return [{ or: searched.map((name) => ({ [name]: { like: value } })) }];
  const field = fieldOf(key);
  if (!field) return [];
  const comparison = comparisonOf(field, operator, value, timeZone, now);
  // What does not fit its field selects nothing, rather than everything.
  return [comparison === null ? { or: [] } : field.path.reduceRight<object>((inner, name) => ({ [name]: inner }), comparison)];
}

function comparisonOf(field: Field, operator: string, value: string, timeZone: string, now: number): object | null {
  if (operator === 'none') return { eq: null };
  if (operator === 'some') return { ne: null };
  if (field.kind === 'flag') return { eq: operator === 'yes' };
  if (faultOf(field, value) !== null) return null;
  if (field.kind === 'bytes') return { [operator]: parseBytes(value) };
  if (field.kind === 'age') return { [operator]: hoursAgo(Number(value), now) };
  if (field.kind === 'date') return datesOf(operator, value, timeZone);
  return { [operator]: operator === 'in' ? value.split(comma).filter(Boolean) : value.trim() };
}

/** A day of the company's zone. */
function datesOf(operator: string, value: string, timeZone: string): object {
  const noon = Date.parse(`${value}T12:00:00Z`);
  const start = (days: number) => new Date(startOfDay(noon, timeZone, { days })).toISOString();
  return operator === 'on' ? { ge: start(0), lt: start(1) } : { [operator]: start(0) };
}

/** A condition as people read it. */
export function wordsOf({ field: key, operator, value }: Condition, groups: ReadonlyMap<string, string> = new Map()): string {
  if (key === 'search') return `Search: ${value}`;
  const field = fieldOf(key)!;
  const { name, bare } = operatorsOf(field).find((one) => one.key === operator)!;
  if (field.kind === 'flag') return `${field.name}: ${name}`;
  if (bare) return `${field.name} ${name}`;
  const shown = field.choices?.find(([choice]) => choice === value)?.[1] ?? (field.kind === 'group' ? (groups.get(value) ?? value) : value);
  return `${field.name} ${name} ${shown}`;
}
