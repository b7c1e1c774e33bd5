import { type ComponentType, lazy, type ReactNode } from 'react';
import { whyMissing } from '../graph/release';

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
