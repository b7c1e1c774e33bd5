import { type FormEvent, useRef, useState } from 'react';
import { graphql } from '../graph/graphql';
import { sendMutation, useDo } from '../graph/use';
import { nouns } from '../picker/choices';
import { Suggested } from '../picker/Picker';
import { Close } from '../shell/icons';
import { Empty, Failure, Panel } from '../shell/parts';
import { toSubscribers } from '../shell/route';
import { offerUndo } from '../shell/undo';
import { useUnsaved } from '../shell/unsaved';
import { useMay } from '../shell/viewer';
import { Fold } from '../ui/Fold';
import { given, Reason } from '../ui/Reason';

const attach = graphql('mutation AttachTag($input: AttachTagInput!) { attachTag(input: $input) { attached } }');
const detach = graphql('mutation DetachTag($input: DetachTagInput!) { detachTag(input: $input) { subscribers { physicalId } } }');

interface Props {
  physicalId: string;
  tags: string[];
  changed: () => void;
}

/** The tags of a subscriber, to be added and taken off. */
export function SubscriberTags({ physicalId, tags, changed }: Props) {
  const may = useMay('VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  useUnsaved(text.trim() !== '' || reason !== '');
  const inputOf = (tagName: string) => ({ tagName, physicalIds: [physicalId] });
  const change = useDo(async (mutation: typeof attach | typeof detach, tagName: string) => {
    await sendMutation(mutation, { input: { ...inputOf(tagName), ...given(reason) } });
    setReason('');
    changed();
  });
  const list = useRef<HTMLUListElement>(null);
  const takeOff = async (tag: string) => {
    if (!(await change.run(detach, tag))) return;
    list.current?.focus(); // the button that had the focus is gone
    offerUndo({ text: `The tag ${tag} is taken off.`, undo: () => sendMutation(attach, { input: inputOf(tag) }) });
  };
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const name = text.trim();
    if (name !== '' && (await change.run(attach, name))) setText('');
  };
  return (
    <Panel id="subscriber-tags" title="Tags">
      {tags.length === 0 && <Empty>No tags.</Empty>}
      <Fold of={tags.length} most={6} all={`All ${tags.length} tags`}>
        {(className) => (
          <ul className={`chips ${className}`} aria-label="Tags of the subscriber" ref={list} tabIndex={-1}>
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
        )}
      </Fold>
      {may && (
        <form className="stacked" onSubmit={(event) => void add(event)}>
          <div className="row">
            <Suggested of={nouns.tag} label="New tag" isBare placeholder="Add a tag" maxLength={255} value={text} change={setText} except={tags} />
            <button type="submit" disabled={change.busy || text.trim() === ''}>Add</button>
          </div>
          <Reason isBare value={reason} change={setReason} />
        </form>
      )}
      {change.problem && <Failure problem={change.problem} />}
    </Panel>
  );
}
