import { useMemo, useState } from 'react';
import { moment } from '../format/time';
import { count, useSystem } from '../format/units';
import { useZone } from '../shell/viewer';
import { type Cell, type Column, isIdentifier, type Sheet, written } from './sheet';

const most = 500;

/** A sheet as a table that sorts by a click on a heading. */
export function Table({ sheet, label }: { sheet: Sheet; label: string }) {
  const [order, setOrder] = useState<{ key: string; down: boolean } | null>(null);
  useSystem();
  const timeZone = useZone();
  const rows = useMemo(() => sorted(sheet, order), [sheet, order]);
  const turn = (key: string) => setOrder((before) => (before?.key === key ? (before.down ? { key, down: false } : null) : { key, down: true }));
  return (
    <div className="table-scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {sheet.columns.map((column) => (
              <th key={column.key} scope="col" className={column.type} aria-sort={order?.key === column.key ? (order.down ? 'descending' : 'ascending') : undefined}>
                <button type="button" onClick={() => turn(column.key)}>
                  {column.key}
                  {column.type === 'time' && ` (${timeZone})`}
                  <span aria-hidden="true">{order?.key === column.key ? (order.down ? ' ↓' : ' ↑') : ''}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, i) => (
            <tr key={i}>
              {sheet.columns.map((column) => (
                <td key={column.key} className={isIdentifier(column.key) ? `${column.type} identifier` : column.type}>
                  {text(row[column.key], column, timeZone)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && <p className="hint">The first {most} of {count(rows.length)} rows. The download has all.</p>}
    </div>
  );
}

function text(cell: Cell | undefined, column: Column, timeZone: string): string {
  if (cell === null || cell === undefined) return '–';
  if (column.type === 'time') return String(cell).length > 10 ? moment(String(cell), timeZone) : String(cell);
  if (column.type === 'number') return written(Number(cell), column.unit);
  return typeof cell === 'boolean' ? (cell ? 'yes' : 'no') : String(cell);
}

function sorted(sheet: Sheet, order: { key: string; down: boolean } | null) {
  if (!order) return sheet.rows;
  const column = sheet.columns.find(({ key }) => key === order.key);
  const value = (cell: Cell | undefined) => (column?.type === 'number' ? Number(cell ?? -Infinity) : String(cell ?? ''));
  const compare = (a: number | string, b: number | string) => (typeof a === 'number' ? a - Number(b) : a.localeCompare(String(b)));
  return [...sheet.rows].sort((a, b) => compare(value(a[order.key]), value(b[order.key])) * (order.down ? -1 : 1));
}
