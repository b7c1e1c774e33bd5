import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { send } from './client';
import type { ResultOf, VariablesOf } from './graphql';
import { Problem, problemOf } from './problem';
import { answers } from './use';

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
  /** Where the list goes on, when it holds as many rows as the page keeps. */
  beyond: Start | undefined;
  reload: () => void;
}

/** How many rows a request reads. */
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
export async function readPage<D, T>(query: D, variables: Others<D>, of: (data: ResultOf<D>) => Connection<T> | null | undefined, page: { after: string | null; count: boolean }, signal?: AbortSignal): Promise<Page<T>> {
  const { data, errors } = await send<ResultOf<D>>({ query: query as string, variables: { ...variables, first: pageLength, ...page } }, { signal });
  const connection = data ? of(data) : undefined;
  if (!connection) throw errors?.length ? Problem.of(errors[0]!) : new Problem('INTERNAL_ERROR', 'The answer has no list.');
  return { ...connection, problem: errors?.length ? Problem.of(errors[0]!) : undefined };
}

/** Reads a list page by page, as far as it is looked at. A null query is not sent. */
export function useList<D, T>(query: D | null, variables: Others<D>, of: (data: ResultOf<D>) => Connection<T> | null | undefined, start: Start = beginning): List<T> {
  const { data, error, isFetching, isPlaceholderData, hasNextPage, fetchNextPage, isFetchNextPageError, refetch } = useInfiniteQuery(
    {
      queryKey: [query, variables, start],
      enabled: query !== null,
      initialPageParam: start.after,
      placeholderData: keepPreviousData,
      staleTime: freshness,
      queryFn: ({ pageParam, signal }) => readPage(query as D, variables, of, { after: pageParam, count: pageParam === start.after }, signal),
      getNextPageParam: (last) => (last.pageInfo.hasNextPage ? last.pageInfo.endCursor : null),
    },
    answers,
  );
  const failed = error && !isFetchNextPageError;
  const pages = failed ? [] : (data?.pages ?? []);
  const rows = pages.flatMap(({ nodes }) => nodes);
  const full = rows.length >= mostRows;
  const further = hasNextPage && !isPlaceholderData;
  return {
    rows,
    start,
    total: isPlaceholderData ? undefined : (pages[0]?.totalCount ?? undefined),
    problem: error ? problemOf(error) : pages.find(({ problem }) => problem)?.problem,
    empty: pages.length === 0,
    former: isPlaceholderData,
    reading: isFetching,
    more: further && !full ? () => void fetchNextPage() : undefined,
    beyond: further && full ? { after: pages.at(-1)!.pageInfo.endCursor, from: start.from + rows.length } : undefined,
    reload: () => void refetch(),
  };
}
