import { type ReactNode, useState } from 'react';

interface Props {
  /** How many entries there are. */
  of: number;
  /** Up to how many are shown without asking. */
  most: number;
  /** What all of them are called. */
  all: string;
  /** The entries, in an element of the class. */
  children: (className: string) => ReactNode;
}

/** What is long on a phone: there its first entries, and all of them by a button. The style sheet says how many are first. */
export function Fold({ of, most, all, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      {children(of > most && !open ? 'folded' : '')}
      {of > most && <button type="button" className="quiet unfold no-print" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Show less' : all}</button>}
    </>
  );
}
