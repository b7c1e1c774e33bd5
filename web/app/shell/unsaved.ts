// What was typed and not saved yet. Leaving it by Escape, Back or a link is a question.
import { useEffect, useSyncExternalStore } from 'react';

let typed = 0;
let leaving: (() => void) | null = null;
const listeners = new Set<() => void>();

function ask(leave: (() => void) | null) {
  leaving = leave;
  listeners.forEach((listener) => listener());
}

const hold = (event: Event) => event.preventDefault();

/** Notes that something was typed that is lost when the component goes. */
export function useUnsaved(is: boolean) {
  useEffect(() => {
    if (!is) return;
    if (typed++ === 0) addEventListener('beforeunload', hold);
    return () => {
      if (--typed === 0) removeEventListener('beforeunload', hold);
    };
  }, [is]);
}

/** Lets the page be loaded anew without a question. */
export const dropUnsaved = () => removeEventListener('beforeunload', hold);

/** Reports whether something was typed that is not saved. */
export const isUnsaved = () => typed > 0;

/** Leaves what is shown, after a question where something was typed. */
export function leaveBy(leave: () => void) {
  if (isUnsaved()) ask(leave);
  else leave();
}

/** Goes on with what was typed. */
export const stay = () => ask(null);

/** What leaves, while it is asked for; null otherwise. */
export const useLeaving = (): (() => void) | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => leaving,
  );
