import { useEffect, useRef, useState } from 'react';
import { type CellValue, csvOf, download, fileName } from '../chart/download';
import { count } from '../format/units';
import { type Connection, type Page, readPage } from '../graph/list';
import type { ResultOf, VariablesOf } from '../graph/graphql';
import { useDo } from '../graph/use';
import { Failure } from '../shell/parts';
import { useZone } from '../shell/viewer';

/** How many rows a file holds. */
export const mostExported = 50_000;

interface Props<D, T> {
  name: string;
  query: D;
  variables: Omit<VariablesOf<D>, 'first' | 'after' | 'count'>;
  of: (data: ResultOf<D>) => Connection<T> | null | undefined;
  columns: { name: string; text: (row: T) => CellValue }[];
}

/** Downloads exactly this list as CSV, page by page. */
export function Export<D extends object, T>({ name, query, variables, of, columns }: Props<D, T>) {
  const timeZone = useZone();
  const [read, setRead] = useState(0);
  const [cut, setCut] = useState(false);
  const abort = useRef<AbortController>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const save = useDo(async () => {
    const { signal } = (abort.current = new AbortController());
    const lines: CellValue[][] = [columns.map((column) => column.name)];
    setCut(false);
    for (let after: string | null = null, more = true; more; ) {
      setRead(lines.length - 1);
      const page: Page<T> | null = await readPage(query, variables, of, { after, count: false }, signal).catch((error: unknown) => { if (signal.aborted) return null; throw error; });
      if (page === null) return;
      if (page.problem) throw page.problem;
      lines.push(...page.nodes.map((row) => columns.map(({ text }) => text(row))));
      after = page.pageInfo.endCursor;
      more = page.pageInfo.hasNextPage && lines.length <= mostExported;
      setCut(page.pageInfo.hasNextPage && !more);
    }
    download(fileName(name, 'csv', timeZone), 'text/csv;charset=utf-8', csvOf(lines));
  });
  return (
    <>
      {save.busy
        ? <button type="button" className="quiet" onClick={() => abort.current?.abort()}>Stop at {count(read)}</button>
        : <button type="button" className="quiet" aria-label={`Download ${name} as CSV`} onClick={() => void save.run()}>CSV</button>}
      {cut && <span className="hint" role="status">The file has the first {count(mostExported)} rows.</span>}
      {save.problem && <Failure problem={save.problem} />}
    </>
  );
}
