import { useCallback, useEffect, useRef, useState } from 'react';
import { ask } from './client';
import { type Problem, problemOf } from './problem';

export interface Asked<T> {
  /** The last answer; it stays while a newer one is under way. */
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  /** Whether data answers the present question, not the one before. */
  current: boolean;
  reload: () => void;
}

/** Asks the graph whenever the variables change. A null query asks nothing. */
export function useAsk<T>(query: string | null, variables?: Record<string, unknown>): Asked<T> {
  const [state, setState] = useState<{ data?: T; answers?: string; problem?: Problem; loading: boolean }>({ loading: query !== null });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(variables ?? {});
  useEffect(() => {
    if (query === null) {
      setState({ loading: false });
      return;
    }
    const abort = new AbortController();
    setState((before) => ({ ...before, problem: undefined, loading: true }));
    ask<T>(query, JSON.parse(key), abort.signal).then(
      (data) => abort.signal.aborted || setState({ data, answers: query + key, loading: false }),
      (error) => abort.signal.aborted || setState((before) => ({ ...before, problem: problemOf(error), loading: false })),
    );
    return () => abort.abort();
  }, [query, key, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return { data: state.data, problem: state.problem, loading: state.loading, current: state.answers === `${query}${key}`, reload };
}

export interface Doing<A extends unknown[]> {
  run: (...args: A) => Promise<boolean>;
  busy: boolean;
  problem: Problem | undefined;
  clear: () => void;
}

/** Wraps what changes something: tells whether it runs, and what went wrong. */
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
