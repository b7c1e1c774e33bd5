import { dateOf } from '../format/time';
import type { Sheet } from './sheet';

/** A sheet as CSV (RFC 4180). A cell that a spreadsheet would run as a formula is made a text. */
export function csv(sheet: Sheet): string {
  const lines = [sheet.columns.map((column) => cell(column.key))];
  for (const row of sheet.rows) lines.push(sheet.columns.map((column) => cell(row[column.key], column.type === 'number')));
  return textOf(lines);
}

export type CellValue = string | number | null;

/** Lines of values as CSV, with the same guard. */
export const csvOf = (lines: CellValue[][]): string => textOf(lines.map((line) => line.map((value) => cell(value, typeof value === 'number'))));

const textOf = (lines: string[][]): string => lines.map((line) => `${line.join(',')}\r\n`).join('');

function cell(value: unknown, isNumber = false): string {
  let text = value === null || value === undefined ? '' : String(value);
  if (!isNumber && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Hands a text to the browser as a file. */
export function download(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Such as usage-by-day-2026-11-22.csv, by the day of the zone. */
export const fileName = (title: string, ending: string, timeZone: string) =>
  `${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'simgraph'}-${dateOf(Date.now(), timeZone)}.${ending}`;
