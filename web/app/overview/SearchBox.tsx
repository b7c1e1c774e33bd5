import { type KeyboardEvent, useId, useState } from 'react';
import { useAsk, useSettled } from '../graph/use';
import { Search } from '../shell/icons';
import { go, toSubscriber, toSubscribers } from '../shell/route';

interface Found {
  physicalId: string;
  subscriberId: string;
  nickname: string;
  imsi: string;
}

const query = `query Search($text: String!) {
  subscribers(first: 8, filter: {or: [
    {physicalId: {like: $text}}, {subscriberId: {like: $text}}, {nickname: {like: $text}}, {imsi: {like: $text}}
  ]}) { nodes { physicalId subscriberId nickname imsi } pageInfo { hasNextPage } }
}`;

interface Answer {
  subscribers: { nodes: Found[]; pageInfo: { hasNextPage: boolean } };
}

/** Finds a subscriber by any of its names, as one types. */
export function SearchBox() {
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const wanted = useSettled(text.trim(), 200);
  const { data, problem, loading } = useAsk<Answer>(wanted.length > 1 ? query : null, { text: wanted });
  const id = useId();
  const found = wanted.length > 1 ? (data?.subscribers.nodes ?? []) : [];
  const more = data?.subscribers.pageInfo.hasNextPage ?? false;
  const links = [...found.map((one) => toSubscriber(one.physicalId)), ...(more ? [toSubscribers({ search: wanted })] : [])];
  const leave = () => {
    setOpen(false);
    setText('');
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false);
    else if (event.key === 'ArrowDown') setAt((i) => Math.min(i + 1, links.length - 1));
    else if (event.key === 'ArrowUp') setAt((i) => Math.max(i - 1, 0));
    else if (event.key === 'Enter' && links[at]) {
      go(links[at]);
      leave();
    } else return;
    event.preventDefault();
  };
  const shown = open && wanted.length > 1;
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
        aria-activedescendant={shown && links.length > 0 ? option(at) : undefined}
        placeholder="ICCID, MSISDN, EUI, IMSI or nickname"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onKeyDown={press}
      />
      <ul role="listbox" id={`${id}-list`} aria-label="Subscribers found" hidden={!shown}>
        {found.map((one, i) => (
          <li key={one.physicalId} role="option" id={option(i)} aria-selected={i === at} onPointerDown={(event) => event.preventDefault()} onClick={() => { go(links[i]!); leave(); }}>
            <strong>{one.nickname || one.physicalId}</strong>
            <span>{one.physicalId} · {one.subscriberId}</span>
          </li>
        ))}
        {more && (
          <li role="option" id={option(found.length)} aria-selected={at === found.length} onPointerDown={(event) => event.preventDefault()} onClick={() => { go(links.at(-1)!); leave(); }}>
            <span>Show all that fit</span>
          </li>
        )}
        {found.length === 0 && (
          <li role="option" aria-selected={false} aria-disabled="true" className="none">
            {problem ? problem.message : loading || wanted !== text.trim() ? 'Searching …' : 'No subscriber fits.'}
          </li>
        )}
      </ul>
    </div>
  );
}
