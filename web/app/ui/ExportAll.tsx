import { Popover } from './Popover';

const formats: [name: string, parameters: Record<string, string>][] = [
  ['CSV', { format: 'csv' }],
  ['CSV for spreadsheets', { format: 'csv', spreadsheet: 'true' }],
  ['NDJSON', { format: 'ndjson' }],
  ['Parquet', { format: 'parquet' }],
];

interface Props {
  /** The export, as its path names it. */
  of: 'subscribers' | 'usage' | 'sessions' | 'alert-log' | 'audit';
  /** That of the list that is shown, as the graph takes it. */
  filter?: object | null | undefined;
  /** Further parameters. */
  more?: Record<string, string>;
}

/** The address of an export of exactly what the filter selects. */
export function exportOf({ of, filter, more }: Props, parameters: Record<string, string>): string {
  const all = new URLSearchParams({ ...parameters, ...more });
  if (filter && Object.keys(filter).length > 0) all.set('filter', JSON.stringify(filter));
  return `/export/${of}?${all}`;
}

/** Links that download all of a list, however long it is. */
export function ExportAll(props: Props) {
  return (
    <Popover button="Export all" label="Export all of it as a file" className="quiet">
      {(close) => (
        <ul className="plain-list">
          {formats.map(([name, parameters]) => <li key={name}><a href={exportOf(props, parameters)} download onClick={close}>{name}</a></li>)}
        </ul>
      )}
    </Popover>
  );
}
