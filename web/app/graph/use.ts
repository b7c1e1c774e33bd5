// What the page has read is cached by operation and variables. A view shows what is
// cached at once and reads it again; after each change everything shown is read again.
import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { firstSessionId, sessionId, watch } from '../session';
import { ask, run } from './client';
import type { Document, ResultOf, VariablesOf } from './graphql';
import { Problem, problemOf } from './problem';
import { onRecovery } from './reach';

const retention = 5 * 60_000;

/** The answers of this session. An answer is kept for some minutes after it was last shown. */
export const answers = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always', gcTime: retention } },
});

let first = firstSessionId();
let session = sessionId();
watch(() => {
  if (firstSessionId() !== first) answers.clear();
  else if (sessionId() !== session) void refresh();
  first = firstSessionId();
  session = sessionId();
});

/** Ends reads that are under way: they may answer from before a change, and another read would wait for a first one. */
const dropReads = (queryKey?: unknown[]) => answers.cancelQueries({ queryKey, predicate: ({ state }) => state.fetchStatus === 'fetching' });

/**
 * Reads again what is shown of the key, or everything, such as after a change; of lists, the
 * pages in view. What is not in view is read again when it is shown.
 */
export async function refresh(queryKey?: unknown[]) {
  await dropReads(queryKey);
  await answers.invalidateQueries({ queryKey });
}

/** Writes what an event reports into the answer of the key. A read of it that is under way may be older, and is sent anew. */
export function amend<T>(queryKey: unknown[], change: (answer: T) => T) {
  const isReading = answers.isFetching({ queryKey }) > 0;
  void dropReads(queryKey);
  answers.setQueryData<T>(queryKey, (before) => before && change(before));
  if (isReading) void answers.invalidateQueries({ queryKey });
}

onRecovery(() => void refresh());

export interface Asked<T> {
  /** The answer to the present question. Fields that failed are null in it, and problem is then what failed first. */
  data: T | undefined;
  /** The answer to the question before, while that to the present one is under way. */
  former: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
}

/** Sends the query whenever the variables change. A null query is not sent. */
export function useAsk<D extends object>(query: D | null, variables?: VariablesOf<D>): Asked<ResultOf<D>>;
export function useAsk<T>(query: Document | null, variables?: Record<string, unknown>): Asked<T>;
export function useAsk(query: unknown, variables: unknown = {}): Asked<unknown> {
  const { data, error, isFetching, isPlaceholderData } = useQuery(
    {
      queryKey: [query, variables],
      enabled: query !== null,
      placeholderData: query === null ? undefined : keepPreviousData,
      queryFn: async ({ signal }) => {
        const { data, errors } = await run(query as Document, variables as Record<string, unknown>, { signal });
        return { data: data ?? undefined, problem: errors?.length ? Problem.of(errors[0]!) : undefined };
      },
    },
    answers,
  );
  const key = useRef<unknown[]>([]);
  key.current = [query, variables];
  const reload = useCallback(() => void refresh(key.current), []);
  return {
    data: isPlaceholderData || error ? undefined : data?.data,
    former: isPlaceholderData ? data?.data : undefined,
    problem: error ? problemOf(error) : isPlaceholderData ? undefined : data?.problem,
    loading: isFetching,
    reload,
  };
}

/** Sends a mutation alone, such as a step of offerUndo, after which everything shown is read again once. */
export const sendMutation = <D extends object>(mutation: D, variables: VariablesOf<D>, options?: { keepalive?: boolean }): Promise<ResultOf<D>> =>
  ask<ResultOf<D>>(mutation as unknown as Document, variables as Record<string, unknown>, options);

/** Reads from the server once, past the cache. */
export const readNow = <D extends object>(query: D, variables: VariablesOf<D>): Promise<ResultOf<D>> => ask<ResultOf<D>>(query as unknown as Document, variables as Record<string, unknown>);

/** Sends a mutation, and reads everything again that is shown. */
export async function mutate<D extends object>(mutation: D, variables: VariablesOf<D>, options?: { keepalive?: boolean }): Promise<ResultOf<D>> {
  const answer = await sendMutation(mutation, variables, options);
  void refresh();
  return answer;
}

export interface Doing<A extends unknown[]> {
  run: (...args: A) => Promise<boolean>;
  busy: boolean;
  problem: Problem | undefined;
  clear: () => void;
}

/** Wraps what changes something: reports whether it runs, and what went wrong. */
export function useDo<A extends unknown[]>(change: (...args: A) => Promise<void>): Doing<A> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const latest = useRef(change);
  latest.current = change;
  const run = useCallback(async (...args: A) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await latest.current(...args);
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  return { run, busy, problem, clear: useCallback(() => setProblem(undefined), []) };
}

/** The value, once it has not changed for some time. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
