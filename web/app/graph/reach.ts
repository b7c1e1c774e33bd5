// Whether the server can be reached, as the last requests and the events found it.
import { useSyncExternalStore } from 'react';

const pause = 3_000;

let reachable = true;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const recovered = new Set<() => void>();

function change(next: boolean) {
  reachable = next;
  listeners.forEach((listener) => listener());
}

/** Notes that the server could not be reached, and looks until it can be. */
export function noteUnreachable() {
  if (!reachable) return;
  change(false);
  timer = setTimeout(look, pause);
}

const answersNow = () => fetch('/healthz', { cache: 'no-store' }).then((response) => response.ok, () => false);

/** Looks whether the server can still be reached, such as after a connection was lost. */
export async function check() {
  if (!(await answersNow())) noteUnreachable();
}

/** Looks at once whether the server is back. */
export async function look() {
  clearTimeout(timer);
  const ok = await answersNow();
  if (reachable) return;
  if (!ok) {
    clearTimeout(timer);
    timer = setTimeout(look, pause);
    return;
  }
  change(true);
  recovered.forEach((run) => run());
}

addEventListener('online', () => !reachable && void look());
addEventListener('offline', noteUnreachable);

/** Runs the function each time the server can be reached again. */
export const onRecovery = (run: () => void) => void recovered.add(run);

export const useReachable = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => reachable,
  );
