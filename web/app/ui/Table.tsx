import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { type List, mostRows } from '../graph/list';
import { count } from '../format/units';
import { Failure, Waiting } from '../shell/parts';

export interface Column<T> {
  key: string;
  name: string;
  /** In pixels, wider where there is room; 0 leaves it to the style sheet. */
  width: number;
  cell: (row: T) => ReactNode;
  kind?: 'number' | 'mono';
  /** Where it stands in the second line of a row on a phone. Where no column says so, as in lists with buttons, the rows keep all columns and are scrolled. */
  phone?: 'left' | 'right';
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

const rowHeight = 35;
/** The height of a row of two lines. */
const phoneHeight = 56;
const headHeight = 31;
const checkWidth = 40;
/** How many rows beside those in view are drawn. */
const overscan = 10;

const phone = matchMedia('(max-width: 640px)');
const usePhone = () => useSyncExternalStore(
  (call) => {
    phone.addEventListener('change', call);
    return () => phone.removeEventListener('change', call);
  },
  () => phone.matches,
);

// Where lists were scrolled to, for the way back to them.
const offsets = new Map<string, number>();

/** A list of any length: only the rows in view are in the document. */
export function Table<T>({ label, list, columns, keyOf, none, selection, hrefOf }: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const anchor = useRef<string | null>(null);
  const { rows, start, total, problem, more, ahead, beyond } = list;
  const place = location.hash;
  const onPhone = usePhone() && columns.some((column) => column.phone);
  const height = onPhone ? phoneHeight : rowHeight;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan,
    initialOffset: () => offsets.get(place) ?? 0,
    initialRect: { width: 1000, height: 700 },
  });
  useEffect(() => virtual.measure(), [virtual, height]);
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
  const drawnColumns = onPhone ? linesOf(columns) : columns;
  const width = columns.reduce((all, column) => all + column.width, selection ? checkWidth : 0);
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="answered" aria-busy={list.former}>
      {problem && <Failure problem={problem} retry={problem.code === 'FORBIDDEN' ? undefined : list.more ?? list.reload} />}
      {rows.length === 0 ? none : (
        <div ref={scroller} className="table-scroll tall" role="region" aria-label={`Table of ${label.toLowerCase()}`} tabIndex={0}>
          <table className={onPhone ? 'rows virtual phone' : 'rows virtual'} style={{ minWidth: onPhone ? undefined : width }} aria-rowcount={total === undefined ? -1 : total + 1}>
            <colgroup>
              {selection && <col style={{ width: checkWidth }} />}
              {drawnColumns.map(({ key, width }) => <col key={key} style={{ width: width || undefined }} />)}
            </colgroup>
            <thead>
              <tr aria-rowindex={1}>
                {selection && <th scope="col" className="check"><Check label="Select all rows shown" checked={selection.all} change={selection.toggleAll} /></th>}
                {drawnColumns.map((column) => <Head key={column.key} column={column} />)}
              </tr>
            </thead>
            <tbody>
              {before > 0 && <tr aria-hidden="true"><td colSpan={drawnColumns.length + (selection ? 1 : 0)} style={{ height: before }} /></tr>}
              {items.map(({ index }) => {
                const row = rows[index]!;
                const key = keyOf(row);
                return (
                  <tr key={key} data-index={index} aria-rowindex={start.from + index + 2} className={selection?.has(key) ? 'chosen' : undefined}>
                    {selection && <td className="check"><Check label={`Select ${selection.nameOf(key)}`} checked={selection.has(key)} change={(chosen, shift) => choose(key, chosen, shift)} /></td>}
                    {drawnColumns.map(({ key, kind, cell }) => <td key={key} className={kind}>{cell(row)}</td>)}
                  </tr>
                );
              })}
              {after > 0 && <tr aria-hidden="true"><td colSpan={drawnColumns.length + (selection ? 1 : 0)} style={{ height: after }} /></tr>}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > 0 && (
        <p className="position hint">
          <span>{positionOf(virtual.scrollOffset ?? 0, virtual.scrollRect?.height ?? 0, height, list)}</span>
          {start.from > 0 && hrefOf && <a href={hrefOf(null, 0)}>From the first row</a>}
          {beyond && hrefOf && last >= rows.length - ahead && <a href={hrefOf(beyond.after, beyond.from)}>From row {count(beyond.from + 1)} on</a>}
          {beyond && !hrefOf && last >= rows.length - ahead && <span>Only {count(mostRows)} rows are shown. Filter the list to see others.</span>}
        </p>
      )}
    </div>
  );
}

/** On a phone a row has two lines of two columns; what else it has stands where its link leads. */
function linesOf<T>(columns: Column<T>[]): Column<T>[] {
  const [first, second, ...others] = columns;
  const of = (top: Column<T> | undefined, side: 'left' | 'right') => {
    const below = others.find((column) => column.phone === side);
    if (!top) return [];
    return [{
      ...top,
      width: 0,
      kind: side === 'right' ? 'number' as const : top.kind,
      cell: (row: T) => (
        <>
          <span className="line">{top.cell(row)}</span>
          {below && <span className="line hint"><span className="visually-hidden">{below.name}: </span>{below.cell(row)}</span>}
        </>
      ),
    }];
  };
  return [...of(first, 'left'), ...of(second, 'right')];
}

/** Which rows are in view, of how many. */
function positionOf(offset: number, visible: number, height: number, { rows, start, total }: List<unknown>): string {
  const first = Math.min(rows.length, Math.floor(offset / height) + 1);
  const last = Math.max(first, Math.min(rows.length, Math.ceil((offset + visible - headHeight) / height)));
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
