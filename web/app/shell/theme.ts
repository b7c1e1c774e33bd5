import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';

const key = 'simgraph:theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const chosen = () => localStorage.getItem(key);
const current = (): Theme => (chosen() === 'light' || chosen() === 'dark' ? (chosen() as Theme) : dark.matches ? 'dark' : 'light');

function show() {
  document.documentElement.dataset.theme = current();
  listeners.forEach((listener) => listener());
}

show();
dark.addEventListener('change', show);

/** Chooses the other theme, for this browser. */
export function turnTheme() {
  localStorage.setItem(key, current() === 'dark' ? 'light' : 'dark');
  show();
}

export const useTheme = (): Theme =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current,
  );
