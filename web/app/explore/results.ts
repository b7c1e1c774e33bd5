// The last result of each tab of the editor, for the chart below the answer.
import { useSyncExternalStore } from 'react';
import type { Answer } from '../graph/client';
import type { Problem } from '../graph/problem';

export interface Result {
  name: string;
  answer: Answer | null;
  /** The events of a subscription, the newest last. */
  events: { received: string; data: unknown }[] | null;
  /** Why there is no answer at all. */
  problem: Problem | null;
  running: boolean;
  /** Whether the stream of a subscription is open. */
  live?: boolean;
  milliseconds: number;
}

let current = '';

/** The editor tab that is open: queries run for it. */
export const openTab = () => current;
export const follow = (id: string | undefined) => {
  current = id ?? '';
};

const results = new Map<string, Result>();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

const mostEvents = 500;
const mostTabs = 30;

/** Events may come by the hundred: the page redraws a few times a second. */
function notify() {
  timer ??= setTimeout(() => {
    timer = undefined;
    listeners.forEach((listener) => listener());
  }, 100);
}

export function keep(id: string, result: Result) {
  results.delete(id);
  results.set(id, result);
  if (results.size > mostTabs) results.delete(results.keys().next().value!);
  notify();
}

/** Notes that a query runs. The result before it stays in view until it is answered. */
export function begin(id: string, blank: Result) {
  const before = results.get(id);
  keep(id, before && !before.events ? { ...before, running: true } : blank);
}

export function addEvent(id: string, answer: Answer) {
  const before = results.get(id);
  if (!before) return;
  const event = { received: new Date().toISOString(), data: answer.data };
  keep(id, { ...before, answer, events: [...(before.events ?? []), ...(answer.data ? [event] : [])].slice(-mostEvents) });
}

export function change(id: string, part: Partial<Result>) {
  const before = results.get(id);
  if (before) keep(id, { ...before, ...part });
}

export const useResult = (id: string): Result | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => results.get(id),
  );
