import { useCallback, useEffect, useRef, useState } from 'react';
import { send } from './client';
import { Problem, problemOf } from './problem';

export interface Asked<T> {
  /** The answer to the present question. Fields that failed are null in it, and problem is then what failed first. */
  data: T | undefined;
  /** The answer to the question before, while that to the present one is under way. */
  former: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
}

interface State<T> {
  /** The question that data and problem answer. */
  question?: string;
  data?: T;
  problem?: Problem;
  loading: boolean;
}

async function answerTo<T>(query: string, key: string, signal: AbortSignal): Promise<State<T>> {
  const { data, errors } = await send<T>({ query, variables: JSON.parse(key) }, { signal });
  const problem = errors?.length ? Problem.of(errors[0]!) : undefined;
  return { data: data ?? undefined, problem, loading: false };
}

/** Sends the query whenever the variables change. A null query is not sent. */
export function useAsk<T>(query: string | null, variables?: Record<string, unknown>): Asked<T> {
  const [state, setState] = useState<State<T>>({ loading: query !== null });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(variables ?? {});
  const question = `${query}${key}`;
  useEffect(() => {
    if (query === null) {
      setState({ loading: false });
      return;
    }
    const abort = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    answerTo<T>(query, key, abort.signal).then(
      (next) => abort.signal.aborted || setState({ ...next, question }),
      (error) => abort.signal.aborted || setState({ question, problem: problemOf(error), loading: false }),
    );
    return () => abort.abort();
  }, [query, key, question, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const current = state.question === question;
  return {
    data: current ? state.data : undefined,
    former: current ? undefined : state.data,
    problem: current ? state.problem : undefined,
    loading: state.loading || (!current && query !== null),
    reload,
  };
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
