// Finds in any answer of the graph what can be drawn: lists of objects become
// sheets, with columns that are times, numbers or texts.
import { bytes, count } from '../format/units';

/** The column of live events that holds when each arrived. */
export const received = 'received';

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;

export interface Column {
  key: string;
  type: 'time' | 'number' | 'text';
  /** What the numbers count. */
  unit: Unit;
}

export type Unit = 'bytes' | 'percent' | 'none';

export interface Sheet {
  name: string;
  columns: Column[];
  rows: Row[];
  /** Events are a series whose times follow no steps. */
  kind: 'series' | 'events' | 'ranking' | 'table';
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Obj = { [key: string]: Json };

const instant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;
const integer = /^-?\d{1,19}$/;
const aboutBytes = /bytes|usage|originated|terminated|threshold|traffic|total$|totaldata|remaining/i;
const aboutCounts = /sessions|count|numberof|totalcount|rank/i;
const aboutShares = /(^|\.)percent$/i;
const identifiers = /(^|\.)(id|\w*Id|imsi|eid|msisdn|iccid|dataNumber|operatorCode|target|name|nickname|email)$/;
const mostNumbers = 6;

const isObject = (value: Json | undefined): value is Obj => typeof value === 'object' && value !== null && !Array.isArray(value);

/** All sheets of an answer, the one most worth seeing first. */
export function sheetsOf(data: unknown): Sheet[] {
  const sheets: Sheet[] = [];
  walk(data as Json, [], sheets);
  const single = figures(data as Json);
  if (single) sheets.push(single);
  const worth = { series: 0, ranking: 1, events: 1, table: 2 };
  return sheets.sort((a, b) => worth[a.kind] - worth[b.kind]);
}

function walk(value: Json, path: string[], found: Sheet[]) {
  if (Array.isArray(value)) {
    const sheet = sheetOf(nameOf(path), spread(value));
    if (sheet) found.push(sheet);
    return;
  }
  if (!isObject(value)) return;
  const map = mapSheet(value, path);
  if (map) {
    found.push(map);
    return;
  }
  const seen = new Set<Json>();
  for (const [key, below] of Object.entries(value)) {
    // edges and nodes of a connection are the same objects.
    if (key === 'edges' && Array.isArray(value.nodes)) continue;
    if (!seen.has(below)) walk(below, [...path, key], found);
    seen.add(below);
  }
}

const wrappers = new Set(['nodes', 'edges', 'items', 'points', 'buckets', 'content', 'contents', 'data']);
const nameOf = (path: string[]) => path.filter((key, i) => !wrappers.has(key) || i === 0).join(' · ') || 'answer';

/** An object whose keys are times, such as the hours of REST analytics. */
function mapSheet(value: Obj, path: string[]): Sheet | null {
  const entries = Object.entries(value);
  if (entries.length === 0 || !entries.every(([key, v]) => instant.test(key) && numeric(v))) return null;
  return sheetOf(nameOf(path), entries.map(([time, v]) => ({ time, [path.at(-1) ?? 'value']: v as Cell })));
}

/** Rows of a list: nested objects by dotted names, lists of points within rows spread out. */
function spread(list: Json[]): Row[] {
  const rows: Row[] = [];
  for (let item of list) {
    if (isObject(item) && isObject(item.node)) item = item.node;
    if (!isObject(item)) {
      if (item !== null && !Array.isArray(item)) rows.push({ value: item });
      continue;
    }
    const { row, points } = flatten(item, '');
    if (points.length === 0) rows.push(row);
    else for (const point of points) rows.push({ ...row, ...point });
  }
  return rows;
}

function flatten(value: Obj, prefix: string): { row: Row; points: Row[] } {
  const row: Row = {};
  let points: Row[] = [];
  for (const [key, below] of Object.entries(value)) {
    if (key === '__typename') continue;
    if (Array.isArray(below)) {
      const inner = below.every(isObject) ? spread(below) : [];
      // One name each, such as tags, stays within the row; anything more gets rows of its own.
      if (inner.length > 0 && points.length === 0 && Object.keys(inner[0]!).length > 1) points = inner.map((one) => prefixed(one, row, `${prefix}${key}`));
      else row[prefix + key] = below.map((one) => (isObject(one) ? Object.values(one).filter((v) => typeof v !== 'object').join(' ') : String(one))).join(', ');
    } else if (isObject(below)) {
      const inner = flatten(below, `${prefix}${key}.`);
      Object.assign(row, inner.row);
      if (points.length === 0) points = inner.points;
    } else row[prefix + key] = below;
  }
  return { row, points };
}

/** Names of the inner row that the outer one has as well get a prefix. */
const prefixed = (inner: Row, outer: Row, name: string): Row =>
  Object.fromEntries(Object.entries(inner).map(([key, cell]) => [key in outer ? `${name}.${key}` : key, cell]));

const numeric = (value: Json | undefined): boolean => typeof value === 'number' || (typeof value === 'string' && integer.test(value));

function columnOf(key: string, rows: Row[]): Column {
  const values = rows.map((row) => row[key]).filter((value) => value !== null && value !== undefined);
  if (values.length > 0 && values.every((value) => typeof value === 'string' && instant.test(value))) return { key, type: 'time', unit: 'none' };
  if (values.length > 0 && values.every((value) => numeric(value)) && !identifiers.test(key))
    return { key, type: 'number', unit: unitOf(key) };
  return { key, type: 'text', unit: 'none' };
}

const unitOf = (key: string): Unit => (aboutShares.test(key) ? 'percent' : aboutBytes.test(key) && !aboutCounts.test(key) ? 'bytes' : 'none');

/** The sheet of the rows, or null when there is nothing in them. */
export function sheetOf(name: string, rows: Row[]): Sheet | null {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key, _, all) => !isStandIn(key, all, rows));
  if (keys.length === 0) return null;
  const columns = keys.map((key) => columnOf(key, rows));
  return { name, columns, rows, kind: kindOf(columns, rows) };
}

/** Whether the column is an object that is null in some rows, and spread out in others. */
const isStandIn = (key: string, all: string[], rows: Row[]): boolean =>
  all.some((other) => other.startsWith(`${key}.`)) && rows.every((row) => row[key] === null || row[key] === undefined);

function kindOf(columns: Column[], rows: Row[]): Sheet['kind'] {
  const numbers = columns.filter((column) => column.type === 'number');
  const times = columns.filter((column) => column.type === 'time');
  if (numbers.length === 0 || numbers.length > mostNumbers) return 'table';
  // Start and end of a span are one axis; a sheet with many times is a record.
  const axis = times.length <= 2 ? times[0]?.key : undefined;
  if (axis === received) return 'events';
  if (axis && rows.length > 1 && isAxis(axis, rows)) return hasSteps(axis, rows) ? 'series' : 'events';
  return columns.some((column) => column.type === 'text') ? 'ranking' : 'table';
}

const quarter = 900;

/** Whether times are the starts of steps: an offset from UTC is whole quarters of an hour. Events come at any time. */
const hasSteps = (key: string, rows: Row[]): boolean => rows.every((row) => instantOf(row[key]) % quarter === 0);

/** Whether times stand in order, in either direction, once or once for each group of rows. */
function isAxis(key: string, rows: Row[]): boolean {
  let [rises, falls] = [0, 0];
  for (let i = 1; i < rows.length; i++) {
    const step = instantOf(rows[i]![key]) - instantOf(rows[i - 1]![key]);
    if (step > 0) rises++;
    if (step < 0) falls++;
  }
  return falls === 0 || rises === 0 || falls <= rows.length / 3;
}

/** The plain numbers of the answer, such as the counts of a fleet. */
function figures(data: Json): Sheet | null {
  const found: { path: string[]; value: Cell }[] = [];
  const collect = (value: Json, path: string[]) => {
    if (!isObject(value)) return;
    for (const [key, below] of Object.entries(value)) {
      if (typeof below === 'number' || (numeric(below) && aboutBytes.test(key))) found.push({ path: [...path, key], value: below as Cell });
      else collect(below, [...path, key]);
    }
  };
  collect(data, []);
  if (found.length < 2) return null;
  const labels = shortLabels(found.map(({ path }) => path));
  const sheet = sheetOf(commonPath(found.map(({ path }) => path)) || 'figures', found.map(({ value }, i) => ({ figure: labels[i]!, value })));
  const inBytes = found.every(({ path, value }) => typeof value === 'string' && unitOf(path.at(-1)!) === 'bytes');
  if (sheet) for (const column of sheet.columns) column.unit = column.key === 'value' && inBytes ? 'bytes' : 'none';
  return sheet;
}

/** Labels in words, of as few last keys of each path as keep them apart. */
function shortLabels(paths: string[][]): string[] {
  const longest = Math.max(...paths.map((path) => path.length));
  for (let keys = 1; ; keys++) {
    const labels = paths.map((path) => path.slice(-keys).map(titleOf).join(' · '));
    if (keys >= longest || new Set(labels).size === labels.length) return labels;
  }
}

/** What all paths begin with. */
function commonPath(paths: string[][]): string {
  const parts = paths[0]!.slice(0, -1);
  while (parts.length > 0 && !paths.every((path) => parts.every((part, i) => path[i] === part))) parts.pop();
  return parts.join(' · ');
}

export const instantOf = (cell: Cell | undefined): number => new Date(String(cell)).getTime() / 1000;

export interface Drawn {
  times: number[];
  series: { label: string; values: (number | null)[]; unit: Unit }[];
  /** How many smaller series are left out. */
  hidden: number;
}

/** What marks the rows of all values that have no series of their own. */
const others = 'isOthers';

// As many as the palette has colours.
const most = 8;

/** The series of a sheet over its time; texts beside the time make one series each. */
export function seriesOf(sheet: Sheet): Drawn {
  const time = sheet.columns.find((column) => column.type === 'time')!.key;
  const numbers = sheet.columns.filter((column) => column.type === 'number');
  const texts = sheet.columns.filter((column) => column.type === 'text' && column.key !== others);
  const times = [...new Set(sheet.rows.map((row) => instantOf(row[time])))].sort((a, b) => a - b);
  const place = new Map(times.map((at, i) => [at, i]));
  const series = new Map<string, Drawn['series'][number]>();
  for (const row of sheet.rows) {
    const words = texts.map((text) => row[text.key]).filter((text) => text !== null && text !== '').join(' ');
    const group = words || (texts.length === 0 ? '' : row[others] === true ? 'Others' : '(none)');
    for (const number of numbers) {
      const label = [group, group && numbers.length === 1 ? '' : titleOf(number.key)].filter(Boolean).join(' · ');
      if (!series.has(label)) series.set(label, { label, values: times.map(() => null), unit: number.unit });
      const value = row[number.key];
      if (value !== null && value !== undefined) series.get(label)!.values[place.get(instantOf(row[time]))!] = Number(value);
    }
  }
  const sum = (one: { values: (number | null)[] }) => one.values.reduce<number>((all, value) => all + (value ?? 0), 0);
  const ordered = [...series.values()];
  // Bytes and counts have no common axis: the first series decides.
  const drawn = ordered.filter(({ unit }) => unit === (ordered.some((one) => one.unit === 'bytes') ? 'bytes' : ordered[0]!.unit));
  return { times, series: drawn.length > most ? drawn.sort((a, b) => sum(b) - sum(a)).slice(0, most) : drawn, hidden: Math.max(0, drawn.length - most) };
}

/** What rows can be ranked by: a number, or sent and received as parts of one bar. */
export interface Measure {
  name: string;
  parts: Column[];
  unit: Unit;
}

/** The measures of a sheet, the one most worth seeing first. */
export function measuresOf(sheet: Sheet): Measure[] {
  const numbers = sheet.columns.filter((column) => column.type === 'number');
  const measures = numbers.map((number) => ({ name: titleOf(number.key), parts: [number], unit: number.unit }));
  const directions = numbers.filter((number) => /mobile(Originated|Terminated)$/.test(number.key));
  // Only one pair is one bar: those of two spans would be added up.
  return directions.length === 2 ? [{ name: 'Received and sent', parts: directions, unit: 'bytes' as const }, ...measures] : measures;
}

/** The texts that name a row: names where there are some, else whatever comes first. */
function namesOf(sheet: Sheet): Column[] {
  const texts = sheet.columns.filter((column) => column.type === 'text');
  const names = texts.filter((text) => /(^|\.)(nickname|name|label|figure|tagName)$/.test(text.key));
  return names.length > 0 ? names : texts;
}

/**
 * The label and the parts of each row by a measure, the largest first. How close
 * something is to a threshold is of interest until that has fired.
 */
export function rankingOf(sheet: Sheet, measure: Measure): { label: string; values: number[] }[] {
  const texts = namesOf(sheet);
  const [{ key, unit }] = measure.parts as [Column];
  const fired = unit === 'percent' ? key.replace(/percent$/, 'status') : null;
  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
  return sheet.rows
    .filter((row) => fired === null || row[fired] !== 'FIRED')
    .map((row) => ({
      label: texts.map((text) => row[text.key]).filter((text) => text !== null && text !== undefined && text !== '').slice(0, 2).join(' · ') || '(none)',
      values: measure.parts.map((part) => Number(row[part.key] ?? 0)),
    }))
    .sort((a, b) => sum(b.values) - sum(a.values));
}

const words: Record<string, string> = { mobileOriginated: 'Sent (MO)', mobileTerminated: 'Received (MT)', dataUsage: 'Data usage' };

/** The name of a column in words: "upper.percent" is "Upper percent". */
export function titleOf(key: string): string {
  const known = words[key.split('.').at(-1)!];
  if (known) return known;
  const text = key.replaceAll('.', ' ').replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A number as people read it. */
export function written(value: number, unit: Unit): string {
  if (unit === 'bytes') return bytes(value);
  return unit === 'percent' ? `${count(Math.floor(value))}\u00a0%` : count(Math.round(value * 10) / 10);
}

/** Whether a column holds identifiers, which are read whole. */
export const isIdentifier = (key: string): boolean => /(^|\.)(id|\w*Id|imsi|eid|msisdn|iccid|dataNumber|target)$/.test(key);
