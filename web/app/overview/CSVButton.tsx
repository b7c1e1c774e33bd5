import { csv, download, fileName } from '../chart/download';
import { type Row, sheetOf } from '../chart/sheet';
import { useZone } from '../shell/viewer';

/** Downloads what a panel shows. */
export function CSVButton({ name, rows }: { name: string; rows: Row[] }) {
  const sheet = sheetOf(name, rows);
  const timeZone = useZone();
  return (
    <button type="button" className="quiet" disabled={!sheet || rows.length === 0} aria-label={`Download ${name} as CSV`} onClick={() => sheet && download(fileName(name, 'csv', timeZone), 'text/csv;charset=utf-8', csv(sheet))}>
      CSV
    </button>
  );
}
