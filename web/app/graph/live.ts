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

/** How long first reads wait for the stream: a second, and not at all where it did not connect in that time. */
const longest = 1_000;
let patience = longest;

/**
 * Follows as useLive does, and says whether a first read waits: once the stream is connected, nothing falls between it
 * and the read, and one read is enough.
 */
export function useLiveFirst<D extends object>(query: D | null, { next, connected, variables }: Following<D>): Live & { wait: boolean } {
  const key = JSON.stringify(variables ?? {});
  const [ready, setReady] = useState<string>();
  const live = useLive(query, {
    next,
    variables,
    connected: () => {
      patience = longest;
      if (ready === key) connected();
      else setReady(key);
    },
  });
  const wait = query !== null && ready !== key;
  const ended = live.state === 'ended';
  useEffect(() => {
    if (!wait) return;
    const timer = setTimeout(() => {
      if (!ended) patience = 0;
      setReady(key);
    }, ended ? 0 : patience);
    return () => clearTimeout(timer);
  }, [wait, ended, key]);
  return { ...live, wait };
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
