import { type FormEvent, useRef, useState } from 'react';
import { ask } from '../graph/client';
import { type Document, operation } from '../graph/graphql';
import { useAsk, useDo } from '../graph/use';
import { Close } from '../shell/icons';
import { Empty, Failure, Panel } from '../shell/parts';
import { toSubscribers } from '../shell/route';
import { offerUndo } from '../shell/undo';
import { useMay } from '../shell/viewer';

const attach = operation('mutation AttachTag($input: AttachTagInput!) { attachTag(input: $input) { attached } }');
const detach = operation('mutation DetachTag($input: DetachTagInput!) { detachTag(input: $input) { subscribers { physicalId } } }');
const known = operation('query KnownTags { tags(first: 100) { nodes { name } } }');

interface Props {
  physicalId: string;
  tags: string[];
  changed: () => void;
}

/** The tags of a subscriber, to be added and taken off. */
export function SubscriberTags({ physicalId, tags, changed }: Props) {
  const may = useMay('VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const all = useAsk<{ tags: { nodes: { name: string }[] } | null }>(may ? known : null);
  const [text, setText] = useState('');
  const inputOf = (tagName: string) => ({ input: { tagName, physicalIds: [physicalId] } });
  const change = useDo(async (mutation: Document, tagName: string) => {
    await ask(mutation, inputOf(tagName));
    changed();
    all.reload();
  });
  const list = useRef<HTMLUListElement>(null);
  const takeOff = async (tag: string) => {
    if (!(await change.run(detach, tag))) return;
    list.current?.focus(); // the button that had the focus is gone
    offerUndo({ text: `The tag ${tag} is taken off.`, undo: () => ask(attach, inputOf(tag)) });
  };
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const name = text.trim();
    if (name !== '' && (await change.run(attach, name))) setText('');
  };
  const others = (all.data?.tags?.nodes ?? []).map(({ name }) => name).filter((name) => !tags.includes(name));
  return (
    <Panel id="subscriber-tags" title="Tags">
      {tags.length === 0 && <Empty>No tags.</Empty>}
      <ul className="chips" aria-label="Tags of the subscriber" ref={list} tabIndex={-1}>
        {tags.map((tag) => (
          <li key={tag} className="chip">
            <a href={toSubscribers({ tag })}>{tag}</a>
            {may && (
              <button type="button" aria-label={`Take off the tag ${tag}`} disabled={change.busy} onClick={() => void takeOff(tag)}>
                <Close />
              </button>
            )}
          </li>
        ))}
      </ul>
      {may && (
        <form className="row" onSubmit={(event) => void add(event)}>
          <input aria-label="New tag" placeholder="Add a tag" list="known-tags" maxLength={255} value={text} onChange={(event) => setText(event.target.value)} />
          <datalist id="known-tags">{others.map((name) => <option key={name} value={name} />)}</datalist>
          <button type="submit" disabled={change.busy || text.trim() === ''}>Add</button>
        </form>
      )}
      {change.problem && <Failure problem={change.problem} />}
    </Panel>
  );
}
