import { type ReactNode, useEffect, useState } from 'react';
import type { ResultOf, VariablesOf } from '../graph/graphql';
import { type Asked, useAsk } from '../graph/use';
import { count } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';

/** What is read of a connection. */
export interface Connection<T> {
  nodes: T[];
  totalCount: number | null;
  pageInfo: { startCursor: string | null; endCursor: string | null; hasNextPage: boolean; hasPreviousPage: boolean };
}

/** The variables that select a page of a connection. */
export interface PagePart {
  first?: number;
  after?: string | null;
  last?: number;
  before?: string | null;
}

const pageLength = 25;
interface PagedPanelProps<D, T> {
  id: string;
  title: string;
  query: D;
  /** Those beside the page. */
  variables: Omit<VariablesOf<D>, keyof PagePart>;
  of: (data: ResultOf<D>) => Connection<T> | null | undefined;
  columns: ReactNode;
  row: (item: T) => ReactNode;
  empty: ReactNode;
  /** After how many seconds the list is read again while it is looked at. */
  refreshed: number;
  /** What can be done with the whole list. */
  action?: ReactNode;
}

/** A table of a connection, page by page. */
export function PagedPanel<D extends object, T>({ id, title, query, variables, of, columns, row, empty, refreshed, action }: PagedPanelProps<D, T>) {
  const [part, setPart] = useState<PagePart>({ first: pageLength });
  const asked = useAsk(query, { ...variables, ...part } as VariablesOf<D>);
  useRefreshed(asked, refreshed);
  const page = asked.data === undefined ? undefined : of(asked.data);
  const total = page?.totalCount;
  return (
    <Panel id={id} title={title} aside={<span className="row">{typeof total === 'number' && <span className="hint">{count(total)}</span>}{action}</span>}>
      <Answered asked={asked} of={of} label={`Reading ${title.toLowerCase()}`}>
        {({ nodes, pageInfo }) => nodes.length === 0 ? <Empty>{pageInfo.hasPreviousPage ? 'Nothing is left on this page.' : empty}</Empty> : (
          <div className="table-scroll" role="region" aria-label={`Table of ${title.toLowerCase()}`} tabIndex={0}>
            <table className="rows">
              <thead><tr>{columns}</tr></thead>
              <tbody>{nodes.map(row)}</tbody>
            </table>
          </div>
        )}
      </Answered>
      {page && <Pager of={title.toLowerCase()} page={page.pageInfo} length={pageLength} words={['Previous', 'Next']} turn={setPart} />}
    </Panel>
  );
}

interface PagerProps {
  /** What is listed. */
  of: string;
  page: Connection<unknown>['pageInfo'];
  length: number;
  /** Those of the buttons. */
  words: [before: string, after: string];
  /** Takes the arguments of another page. */
  turn: (part: PagePart) => void;
}

/** Leads to the pages before and after, where there are any. */
export function Pager({ of, page, length, words: [before, after], turn }: PagerProps) {
  if (!page.hasPreviousPage && !page.hasNextPage) return null;
  return (
    <nav className="pager" aria-label={`Pages of ${of}`}>
      <button type="button" disabled={!page.hasPreviousPage} onClick={() => turn({ last: length, before: page.startCursor })}>{before}</button>
      <button type="button" disabled={!page.hasNextPage} onClick={() => turn({ first: length, after: page.endCursor })}>{after}</button>
    </nav>
  );
}

/** Reads the answer again now and then, while the page can be seen. */
export function useRefreshed({ reload }: Asked<unknown>, seconds: number) {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), seconds * 1_000);
    return () => clearInterval(timer);
  }, [reload, seconds]);
}
