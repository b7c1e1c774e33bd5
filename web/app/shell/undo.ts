// Changes that can be undone for some seconds. What cannot be reversed, such as
// deleting an alert, runs only when that time is over.
import { useSyncExternalStore } from 'react';
import { type Problem, problemOf } from '../graph/problem';
import { refresh } from '../graph/use';
import { onSignOut } from '../session';

export interface Undoable {
  /** What the change hides at once, such as alert/12. */
  hides?: string;
  /** What has happened, in words for people. */
  text: string;
  /** Makes the change for good, when the time is over or the page is left. After a step, all that is shown is read again. */
  commit?: () => Promise<unknown>;
  /** Takes the change back. */
  undo?: () => Promise<unknown>;
}

interface State {
  pending: Undoable | null;
  problem: Problem | null;
  hidden: ReadonlySet<string>;
}

/** How long a change can be undone, in milliseconds. */
const undoTime = 8_000;

let state: State = { pending: null, problem: null, hidden: new Set() };
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function show(next: Partial<State>) {
  state = { ...state, ...next };
  listeners.forEach((listener) => listener());
}

/** Offers to undo a change. One that was offered before is made for good. */
export function offerUndo(change: Undoable) {
  void commit();
  show({ pending: change, problem: null, hidden: change.hides ? new Set([...state.hidden, change.hides]) : state.hidden });
  timer = setTimeout(() => void commit(), undoTime);
}

const commit = () => finish((pending) => pending.commit, false);

/** Takes back the change that is offered. */
export const undo = () => finish((pending) => pending.undo, true);

async function finish(stepOf: (pending: Undoable) => (() => Promise<unknown>) | undefined, reveals: boolean) {
  clearTimeout(timer);
  const { pending } = state;
  if (pending === null) return;
  const visible = () => new Set([...state.hidden].filter((key) => key !== pending.hides));
  const step = stepOf(pending);
  show({ pending: null, ...((reveals || !step) && { hidden: visible() }) });
  if (!step) return;
  try {
    await step();
    // What the list shows without the deleted is read before it may show it again.
    await refresh();
    show({ hidden: visible() });
  } catch (error) {
    show({ problem: problemOf(error), hidden: visible() });
  }
}

/** Removes the problem from view. */
export const dismiss = () => show({ problem: null });

onSignOut(commit);
addEventListener('pagehide', () => void commit());

export const useUndo = (): State =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
