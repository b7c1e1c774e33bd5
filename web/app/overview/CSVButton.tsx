import { csv, download, fileName } from '../chart/download';
import { type Row, sheetOf } from '../chart/sheet';

/** Downloads what a panel shows. */
export function CSVButton({ name, rows }: { name: string; rows: Row[] }) {
  const sheet = sheetOf(name, rows);
  return (
    <button type="button" className="quiet" disabled={!sheet || rows.length === 0} aria-label={`Download ${name} as CSV`} onClick={() => sheet && download(fileName(name, 'csv'), 'text/csv;charset=utf-8', csv(sheet))}>
      CSV
    </button>
  );
}
