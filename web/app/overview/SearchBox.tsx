import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useAsk, useSettled } from '../graph/use';
import { Search } from '../shell/icons';
import { go, toSubscriber, toSubscribers } from '../shell/route';

interface Found {
  physicalId: string;
  subscriberId: string;
  nickname: string;
}

const query = `query Search($text: String!) {
  subscribers(first: 8, filter: {or: [
    {physicalId: {like: $text}}, {subscriberId: {like: $text}}, {nickname: {like: $text}}, {imsi: {like: $text}}
  ]}) { nodes { physicalId subscriberId nickname } pageInfo { hasNextPage } }
}`;

interface Page {
  nodes: Found[];
  pageInfo: { hasNextPage: boolean };
}

interface Answer {
  subscribers: Page | null;
}

interface Choice {
  key: string;
  href: string;
  name: string;
  note: string;
}

const choices = ({ nodes, pageInfo }: Page, text: string): Choice[] => [
  ...nodes.map(({ physicalId, subscriberId, nickname }) => ({ key: physicalId, href: toSubscriber(physicalId), name: nickname || physicalId, note: `${physicalId} · ${subscriberId}` })),
  ...(pageInfo.hasNextPage ? [{ key: 'all', href: toSubscribers({ search: text }), name: '', note: 'Show all that fit' }] : []),
];

const shortest = 2;

/** What fits the text: undefined until the answer to this very text is there. */
function useFound(text: string) {
  const wanted = useSettled(text, 200);
  const asked = useAsk<Answer>(wanted.length >= shortest ? query : null, { text: wanted });
  const found = wanted === text && asked.data?.subscribers ? choices(asked.data.subscribers, text) : undefined;
  return { found, problem: asked.problem };
}

/** Finds a subscriber by any of its names, as one types. */
export function SearchBox() {
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
    go(choice.href);
    setOpen(false);
    setText('');
  };
  useEffect(() => {
    if (eager && found) choose(found[0]);
  });
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false);
    else if (event.key === 'ArrowDown') setAt((i) => Math.min(i + 1, last));
    else if (event.key === 'ArrowUp') setAt((i) => Math.max(i - 1, 0));
    else if (event.key === 'Enter') found ? choose(found[at]) : setEager(true);
    else return;
    event.preventDefault();
  };
  const shown = open && text.trim().length >= shortest;
  const option = (i: number) => `${id}-${i}`;
  return (
    <div className="search" onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false)}>
      <Search />
      <input
        type="search"
        role="combobox"
        aria-label="Search subscribers"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown && found?.length ? option(at) : undefined}
        placeholder="ICCID, MSISDN, EUI, IMSI or nickname"
        autoComplete="off"
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
        <ul role="listbox" id={`${id}-list`} aria-label="Subscribers found" hidden={!found?.length}>
          {found?.map((choice, i) => (
            <li key={choice.key} role="option" id={option(i)} aria-selected={i === at} onPointerDown={(event) => event.preventDefault()} onClick={() => choose(choice)}>
              {choice.name && <strong>{choice.name}</strong>}
              <span>{choice.note}</span>
            </li>
          ))}
        </ul>
        <p role="status">{problem ? problem.message : !found ? 'Searching …' : found.length === 0 ? 'No subscriber fits.' : ''}</p>
      </div>
    </div>
  );
}
