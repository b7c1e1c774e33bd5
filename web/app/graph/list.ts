import { hashKey, skipToken, useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { run } from './client';
import type { Document, ResultOf, VariablesOf } from './graphql';
import { Problem, problemOf } from './problem';
import { answers, refresh } from './use';

/** What is read of a connection. */
export interface Connection<T> {
  nodes: T[];
  totalCount?: number | null;
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

/** Where a list begins: behind a cursor, which stands at that many rows. */
export interface Start {
  after: string | null;
  from: number;
}

export interface List<T> {
  rows: T[];
  start: Start;
  /** How many the whole list has; undefined until that is known. */
  total: number | undefined;
  problem: Problem | undefined;
  /** Nothing has been read yet. */
  empty: boolean;
  /** The rows answer the question before. */
  former: boolean;
  reading: boolean;
  /** Reads on, where there is more and the list is not full. */
  more: (() => void) | undefined;
  /** How many rows before its end a list is read on. */
  ahead: number;
  /** Where the list goes on, when it holds as many rows as the page keeps. */
  beyond: Start | undefined;
  /** Takes which rows are in view. */
  look: (first: number, last: number) => void;
  reload: () => void;
}

/** How many rows a request reads of a list that says nothing else. */
export const pageLength = 100;

/** How many rows of a list the page holds. */
export const mostRows = 5_000;

/** For how long a list that is shown again is not read again. */
const freshness = 20_000;

type Others<D> = Omit<VariablesOf<D>, 'first' | 'after' | 'count'>;
export const beginning: Start = { after: null, from: 0 };

/** A page of a connection, and what failed in it. */
export interface Page<T> extends Connection<T> {
  problem: Problem | undefined;
}

/** Reads a page of a connection. Its operation takes $first, $after and, for the total, $count. */
export async function readPage<D extends object, T>(query: D, variables: Others<D>, of: (data: ResultOf<D>) => Connection<T> | null | undefined, page: { after: string | null; count: boolean; first?: number }, signal?: AbortSignal): Promise<Page<T>> {
  const { data, errors } = await run<ResultOf<D>>(query as unknown as Document, { ...variables, first: pageLength, ...page }, { signal });
  const connection = data ? of(data) : undefined;
  if (!connection) throw errors?.length ? Problem.of(errors[0]!) : new Problem('INTERNAL_ERROR', 'The answer has no list.');
  return { ...connection, problem: errors?.length ? Problem.of(errors[0]!) : undefined };
}

/** Reads a list page by page, as far as it is looked at. Once stale, only its first page and those in view are read again. A null query is not sent. */
export function useList<D extends object, T>(query: D | null, variables: Others<D>, of: (data: ResultOf<D>) => Connection<T> | null | undefined, start: Start = beginning, { length = pageLength } = {}): List<T> {
  const key = [query, variables, start];
  const hash = hashKey(key);
  const { seen, look } = useSeen(hash, length);
  const [cursors, setCursors] = useCursors(key, start);
  const opened = useMemo(() => Date.now(), [hash]);
  const keyOf = (i: number) => [query, variables, 'page', cursors[i], i === 0];
  const isWanted = (i: number) => i === 0 || isWithin(i, seen) || answers.getQueryData(keyOf(i)) === undefined;
  const pages = useQueries(
    {
      queries: (query === null ? [] : cursors).map((after, i) => ({
        queryKey: keyOf(i),
        enabled: isWanted(i),
        staleTime: ({ state }: { state: { dataUpdatedAt: number } }) => (state.dataUpdatedAt < opened - freshness ? 0 : Infinity),
        queryFn: ({ signal }: { signal: AbortSignal }) => readPage(query as D, variables, of, { after, count: i === 0, first: length }, signal),
      })),
    },
    answers,
  );
  const read = pages.flatMap(({ data }) => data ?? []);
  useEffect(() => {
    // A page that was read again may end elsewhere; the pages behind it no longer follow.
    const moved = read.findIndex(({ pageInfo }, i) => isWithin(i, seen) && i + 1 < cursors.length && nextOf(pageInfo) !== cursors[i + 1]);
    if (moved < 0) return;
    const next = nextOf(read[moved]!.pageInfo);
    setCursors([...cursors.slice(0, moved + 1), ...(next !== null && isWithin(moved + 1, seen) ? [next] : [])]);
  });
  const tail = pages.at(-1);
  const failed = pages.find(({ error, data }, i) => error && (i === 0 || data))?.error;
  const { shown, former, holds } = useShown(hash, failed ? [] : read, query !== null && !failed && !tail?.data && !tail?.error, seen);
  const rows = shown.flatMap(({ nodes }) => nodes);
  const full = rows.length >= mostRows;
  const next = !holds && tail?.data ? nextOf(tail.data.pageInfo) : null;
  const error = failed ?? tail?.error;
  return {
    rows,
    start,
    total: former ? undefined : (shown[0]?.totalCount ?? undefined),
    problem: error ? problemOf(error) : shown.find(({ problem }) => problem)?.problem,
    empty: shown.length === 0,
    former,
    reading: pages.some(({ isFetching }) => isFetching),
    more: full ? undefined : next !== null ? () => setCursors([...cursors, next]) : tail?.error && !tail.data ? () => void tail.refetch() : undefined,
    ahead: 0.3 * length,
    beyond: full && next !== null ? { after: next, from: start.from + rows.length } : undefined,
    look,
    reload: () => {
      void refresh([query, variables]);
      // A page out of view that failed is shown as the list's failure.
      pages.forEach(({ error, refetch }, i) => error && !isWanted(i) && void refetch());
    },
  };
}

const isWithin = (i: number, [first, last]: [number, number]) => first <= i && i <= last;

const nextOf = ({ hasNextPage, endCursor }: Connection<unknown>['pageInfo']): string | null => (hasNextPage ? endCursor : null);

/** The pages of a list that are in view. */
function useSeen(hash: string, length: number) {
  const [seen, setSeen] = useState<{ hash: string; pages: [number, number] }>({ hash, pages: [0, 0] });
  const look = useCallback((first: number, last: number) => {
    const pages: [number, number] = [Math.floor(first / length), Math.floor(last / length)];
    setSeen((seen) => (seen.hash === hash && pages.every((page, i) => page === seen.pages[i]) ? seen : { hash, pages }));
  }, [hash, length]);
  return { seen: seen.hash === hash ? seen.pages : ([0, 0] as [number, number]), look };
}

/** What was shown before stays until what is in view has been read. */
function useShown<T>(hash: string, read: Page<T>[], reading: boolean, seen: [number, number]) {
  const last = useRef<{ hash: string; shown: Page<T>[] }>({ hash, shown: [] });
  const former = reading && read.length === 0 && last.current.hash !== hash;
  const holds = former || (reading && last.current.hash === hash && isWithin(read.length, seen) && last.current.shown.length > read.length);
  const shown = holds ? last.current.shown : read;
  useEffect(() => {
    last.current = { hash: former ? last.current.hash : hash, shown };
  });
  return { shown, former, holds };
}

/** Where the pages of a list begin, as far as it was read. They are kept as long as the pages, for the way back to the list. */
function useCursors(key: unknown[], start: Start) {
  const queryKey = [...key, 'cursors'];
  const { data } = useQuery<(string | null)[]>({ queryKey, queryFn: skipToken }, answers);
  return [data ?? [start.after], (cursors: (string | null)[]) => void answers.setQueryData(queryKey, cursors)] as const;
}
