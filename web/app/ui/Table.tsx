import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { type List, mostRows } from '../graph/list';
import { count } from '../format/units';
import { Failure, Waiting } from '../shell/parts';

export interface Column<T> {
  key: string;
  name: string;
  /** In pixels; wider where there is room. */
  width: number;
  cell: (row: T) => ReactNode;
  kind?: 'number' | 'mono';
  /** The address that orders the list by this column, or turns its order round. */
  order?: { href: string; now: 'ascending' | 'descending' | undefined };
}

export interface Selection {
  has: (key: string) => boolean;
  toggle: (key: string, chosen: boolean, range: string[]) => void;
  /** Whether all rows that are shown are selected. */
  all: boolean;
  toggleAll: (chosen: boolean) => void;
  nameOf: (key: string) => string;
}

interface Props<T> {
  label: string;
  list: List<T>;
  columns: Column<T>[];
  keyOf: (row: T) => string;
  /** Shown in place of a list without rows: what to do next. */
  none: ReactNode;
  selection?: Selection;
  /** The address of the list from another row on. */
  hrefOf?: (after: string | null, from: number) => string;
}

const rowHeight = 36;
const headHeight = 37;
const checkWidth = 40;
/** How many rows beside those in view are drawn. */
const overscan = 10;
/** How close to the end the next page is read. */
const ahead = 30;

// Where lists were scrolled to, for the way back to them.
const offsets = new Map<string, number>();

/** A list of any length: only the rows in view are in the document. */
export function Table<T>({ label, list, columns, keyOf, none, selection, hrefOf }: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const anchor = useRef<string | null>(null);
  const { rows, start, total, problem, more, beyond } = list;
  const place = location.hash;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    initialOffset: () => offsets.get(place) ?? 0,
    initialRect: { width: 1000, height: 700 },
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const wanted = more && !problem && !list.reading && last >= rows.length - ahead;
  useEffect(() => {
    if (wanted) more?.();
  });
  const first = items[0]?.index ?? 0;
  const { look } = list;
  useEffect(() => look(first, last), [look, first, last]);
  const drawn = rows.length > 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    element.scrollTo(0, offsets.get(place) ?? 0);
    return () => void offsets.set(place, element.scrollTop);
  }, [place, drawn]);
  if (problem && rows.length === 0) return <Failure problem={problem} retry={problem.code === 'FORBIDDEN' ? undefined : list.reload} />;
  if (list.empty) return <Waiting label={`Reading ${label.toLowerCase()}`} rows={8} />;
  const choose = (key: string, chosen: boolean, shift: boolean) => {
    const keys = rows.map(keyOf);
    const [a, b] = [keys.indexOf(anchor.current ?? key), keys.indexOf(key)].sort((x, y) => x - y) as [number, number];
    selection!.toggle(key, chosen, shift && a >= 0 ? keys.slice(a, b + 1) : [key]);
    anchor.current = key;
  };
  const width = columns.reduce((all, column) => all + column.width, selection ? checkWidth : 0);
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="answered" aria-busy={list.former}>
      {problem && <Failure problem={problem} retry={problem.code === 'FORBIDDEN' ? undefined : list.more ?? list.reload} />}
      {rows.length === 0 ? none : (
        <div ref={scroller} className="table-scroll tall" role="region" aria-label={`Table of ${label.toLowerCase()}`} tabIndex={0}>
          <table className="rows virtual" style={{ minWidth: width }} aria-rowcount={total === undefined ? -1 : total + 1}>
            <colgroup>
              {selection && <col style={{ width: checkWidth }} />}
              {columns.map(({ key, width }) => <col key={key} style={{ width }} />)}
            </colgroup>
            <thead>
              <tr aria-rowindex={1}>
                {selection && <th scope="col" className="check"><Check label="Select all rows shown" checked={selection.all} change={selection.toggleAll} /></th>}
                {columns.map((column) => <Head key={column.key} column={column} />)}
              </tr>
            </thead>
            <tbody>
              {before > 0 && <tr aria-hidden="true"><td colSpan={columns.length + (selection ? 1 : 0)} style={{ height: before }} /></tr>}
              {items.map(({ index }) => {
                const row = rows[index]!;
                const key = keyOf(row);
                return (
                  <tr key={key} data-index={index} aria-rowindex={start.from + index + 2} className={selection?.has(key) ? 'chosen' : undefined}>
                    {selection && <td className="check"><Check label={`Select ${selection.nameOf(key)}`} checked={selection.has(key)} change={(chosen, shift) => choose(key, chosen, shift)} /></td>}
                    {columns.map(({ key, kind, cell }) => <td key={key} className={kind}>{cell(row)}</td>)}
                  </tr>
                );
              })}
              {after > 0 && <tr aria-hidden="true"><td colSpan={columns.length + (selection ? 1 : 0)} style={{ height: after }} /></tr>}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > 0 && (
        <p className="position hint">
          <span>{positionOf(virtual.scrollOffset ?? 0, virtual.scrollRect?.height ?? 0, list)}</span>
          {start.from > 0 && hrefOf && <a href={hrefOf(null, 0)}>From the first row</a>}
          {beyond && hrefOf && last >= rows.length - ahead && <a href={hrefOf(beyond.after, beyond.from)}>From row {count(beyond.from + 1)} on</a>}
          {beyond && !hrefOf && last >= rows.length - ahead && <span>Only {count(mostRows)} rows are shown. Filter the list to see others.</span>}
        </p>
      )}
    </div>
  );
}

/** Which rows are in view, of how many. */
function positionOf(offset: number, height: number, { rows, start, total }: List<unknown>): string {
  const first = Math.min(rows.length, Math.floor(offset / rowHeight) + 1);
  const last = Math.max(first, Math.min(rows.length, Math.ceil((offset + height - headHeight) / rowHeight)));
  return `Rows ${count(start.from + first)}–${count(start.from + last)}${total === undefined ? '' : ` of ${count(total)}`}`;
}

function Head<T>({ column: { name, kind, order } }: { column: Column<T> }) {
  return (
    <th scope="col" className={kind} aria-sort={order?.now}>
      {order ? <a href={order.href}>{name}<span aria-hidden="true">{order.now === 'ascending' ? ' ↑' : order.now === 'descending' ? ' ↓' : ''}</span></a> : name}
    </th>
  );
}

function Check({ label, checked, change }: { label: string; checked: boolean; change: (checked: boolean, shift: boolean) => void }) {
  return <input type="checkbox" aria-label={label} checked={checked} onChange={(event) => change(event.target.checked, (event.nativeEvent as MouseEvent).shiftKey === true)} />;
}
