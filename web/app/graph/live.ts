import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useSession } from '../session';
import { follow } from './client';
import type { Document, ResultOf, VariablesOf } from './graphql';
import { Problem } from './problem';

export interface Live {
  state: 'connecting' | 'live' | 'ended';
  /** Why the stream ended. */
  problem: Problem | null;
  reconnect: () => void;
}

interface Following<D> {
  next: (data: ResultOf<D>) => void;
  /** Reads again: what happened before the stream was connected is not in it. Called again after each lost connection. */
  connected: () => void;
  variables?: VariablesOf<D>;
}

/** Runs a subscription while the page is looked at. A null query is not sent. A lost connection is made anew. */
export function useLive<D extends object>(query: D | null, { next, connected, variables }: Following<D>): Live {
  const [{ state, problem }, setState] = useState<Pick<Live, 'state' | 'problem'>>({ state: 'connecting', problem: null });
  const [turn, setTurn] = useState(0);
  const { id: session } = useSession();
  const visible = useVisible();
  const latest = useRef({ next, connected });
  latest.current = { next, connected };
  const key = JSON.stringify(variables ?? {});
  useEffect(() => {
    if (query === null || !visible) return;
    const end = (problem: Problem | null) => setState({ state: 'ended', problem });
    const connecting = () => setState({ state: 'connecting', problem: null });
    let refused: Problem | null = null;
    connecting();
    return follow<ResultOf<D>>(query as unknown as Document, JSON.parse(key), {
      connected: () => {
        setState({ state: 'live', problem: null });
        latest.current.connected();
      },
      lost: connecting,
      next: ({ data, errors }) => {
        if (data) latest.current.next(data);
        if (errors?.length) refused = Problem.of(errors[0]!);
      },
      error: end,
      complete: () => end(refused),
    });
  }, [query, key, visible, turn, session]);
  return { state, problem, reconnect: () => setTurn((n) => n + 1) };
}

/** Calls the function soon after the first of several calls, so that it runs at most once in that time. */
export function useSoon(run: () => void, milliseconds: number): () => void {
  const latest = useRef(run);
  latest.current = run;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, milliseconds);
  }, [milliseconds]);
}

function useVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => document.visibilityState === 'visible',
  );
}
