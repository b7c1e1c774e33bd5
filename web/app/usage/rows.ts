import type { CellValue } from '../chart/download';
import { type Result, risen } from './ask';
import { weekOf } from './HeatMap';
import { type Definition, measures, nameOf, ranks } from './question';

/** What is shown as lines of a file: times in UTC, numbers in full. */
export function linesOf(d: Definition, result: Result, timeZone: string): CellValue[][] {
  const { times, parts, before, total } = result;
  const measure = nameOf(measures, d.measure);
  if (d.chart === 'NUMBER') return [[measure, ...(before ? ['before'] : [])], [total, ...(before ? [before.total] : [])]];
  if (d.chart === 'HEAT_MAP') {
    const week = weekOf(result, timeZone);
    return [['weekday', 'hour', measure], ...week.flatMap((day, i) => day.map((value, hour) => [i + 1, hour, value]))];
  }
  if (ranks(d)) {
    return [
      [(d.split ?? '').toLowerCase(), 'name', measure, ...(before ? ['before', 'change'] : [])],
      ...parts.map((part): CellValue[] => [part.value ?? '', part.label, part.total, ...(before ? [part.before ?? null, part.before === undefined ? null : risen(part)] : [])]),
    ];
  }
  return [
    ['start', ...parts.map((part) => (d.split ? part.label : measure)), ...(before ? ['before'] : [])],
    ...times.map((at, i): CellValue[] => [new Date(at).toISOString(), ...parts.map(({ values }) => values[i] ?? 0), ...(before ? [before.values[i] ?? null] : [])]),
  ];
}
