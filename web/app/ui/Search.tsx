import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import type { Problem } from '../graph/problem';
import { Search as Magnifier } from '../shell/icons';
import { go } from '../shell/route';
import { leaveBy } from '../shell/unsaved';

export interface Choice {
  key: string;
  href: string;
  name: string;
  note: string;
}

export interface Found {
  /** Undefined until the answer to this very text is there. */
  found: Choice[] | undefined;
  problem: Problem | undefined;
}

/** Shorter texts are not searched for. */
export const shortest = 2;

interface Props {
  label: string;
  placeholder: string;
  /** What the list of what was found is called. */
  list: string;
  /** Shown when nothing was found. */
  none: string;
  /** Finds what fits the text. */
  useFound: (text: string) => Found;
  /** Called after one was chosen. */
  chosen?: () => void;
  autoFocus?: boolean;
}

/** A text field that lists what fits it, as one types, and goes to what is chosen. */
export function Search({ label, placeholder, list, none, useFound, chosen, autoFocus }: Props) {
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  // Whoever presses Enter before the answer is there means the first that fits.
  const [eager, setEager] = useState(false);
  const { found, problem } = useFound(text.trim());
  const id = useId();
  const last = (found?.length ?? 1) - 1;
  const choose = (choice: Choice | undefined) => {
    setEager(false);
    if (!choice) return;
    if (choice.href.includes('#')) leaveBy(() => go(choice.href.slice(choice.href.indexOf('#'))));
    else location.assign(choice.href);
    setOpen(false);
    setText('');
    chosen?.();
  };
  useEffect(() => {
    if (eager && found) choose(found[0]);
  });
  const shown = open && text.trim().length >= shortest;
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      if (!shown) return;
      setOpen(false);
    } else if (event.key === 'ArrowDown') setAt((i) => Math.min(i + 1, last));
    else if (event.key === 'ArrowUp') setAt((i) => Math.max(i - 1, 0));
    else if (event.key === 'Enter') found ? choose(found[at]) : setEager(true);
    else return;
    event.preventDefault();
  };
  const option = (i: number) => `${id}-${i}`;
  return (
    <div className="search" onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false)}>
      <Magnifier />
      <input
        type="search"
        role="combobox"
        aria-label={label}
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown && found?.length ? option(at) : undefined}
        placeholder={placeholder}
        autoComplete="off"
        autoFocus={autoFocus}
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          setEager(false);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onKeyDown={press}
      />
      <div className="found" hidden={!shown}>
        <ul role="listbox" id={`${id}-list`} aria-label={list} hidden={!found?.length}>
          {found?.map((choice, i) => (
            <li key={choice.key} role="option" id={option(i)} aria-selected={i === at} onPointerDown={(event) => event.preventDefault()} onClick={() => choose(choice)}>
              {choice.name && <strong>{choice.name}</strong>}
              <span>{choice.note}</span>
            </li>
          ))}
        </ul>
        <p role="status">{problem ? problem.message : !found ? 'Searching …' : found.length === 0 ? none : ''}</p>
      </div>
    </div>
  );
}
