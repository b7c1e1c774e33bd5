import { type ComponentType, lazy, type ReactNode } from 'react';
import { Problem } from '../graph/problem';
import { noteUnreachable } from '../graph/reach';

const forget = new Set<() => void>();

/** Loads parts again that could not be loaded. */
export function forgetFailedParts() {
  forget.forEach((one) => one());
  forget.clear();
}

/** A part of the page that is loaded when it is first shown. Loading fails with a Problem. */
export function part<P extends object>(load: () => Promise<{ default: (props: P) => ReactNode }>): (props: P) => ReactNode {
  let Loaded: ComponentType<P> | undefined;
  const again = () => {
    Loaded = undefined;
  };
  const loadOrForget = () =>
    load().catch(async () => {
      forget.add(again);
      throw await whyMissing();
    });
  return function Part(props: P) {
    Loaded ??= lazy(loadOrForget) as ComponentType<P>;
    const Shown = Loaded;
    return <Shown {...props} />;
  };
}

/** Reports why a part of this release cannot be loaded. */
async function whyMissing(): Promise<Problem> {
  try {
    if (await isReplaced()) return new Problem('NEW_RELEASE', 'The server runs another release than this page.');
    return new Problem('NOT_LOADED', 'This part of the page could not be loaded.');
  } catch {
    noteUnreachable();
    return new Problem('UNREACHABLE', 'The server cannot be reached.');
  }
}

/** Reports whether the server has another release of the page. Throws where it cannot be reached. */
export async function isReplaced(): Promise<boolean> {
  const response = await fetch('/', { cache: 'no-store', headers: { Accept: 'text/html' } });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const { pathname } = new URL(document.querySelector<HTMLScriptElement>('script[type=module][src]')!.src);
  return !(await response.text()).includes(pathname);
}
