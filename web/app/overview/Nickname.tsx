import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { graphql } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { readNow, sendMutation, useDo } from '../graph/use';
import { EditFailure } from '../shell/EditFailure';
import { Pencil } from '../shell/icons';
import { leaveBy, useUnsaved } from '../shell/unsaved';
import { useMay } from '../shell/viewer';
import { given, Reason } from '../ui/Reason';

const edit = graphql('mutation EditNickname($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { physicalId nickname } } }');
const now = graphql('query NicknameNow($physicalId: String!) { subscriber(by: {physicalId: $physicalId}) { version nickname } }');

interface Named {
  physicalId: string;
  nickname: string | null;
  version: string;
}

/** The nickname as the heading, to be edited in place. */
export function Nickname({ of, changed }: { of: Named; changed: () => void }) {
  const may = useMay('VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const [editing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  // The focus goes back to where it was before the form was opened.
  const close = () => {
    flushSync(() => setEditing(false));
    pencil.current?.focus();
  };
  if (editing) return <NicknameForm of={of} close={close} changed={changed} />;
  return (
    <h1 className="named">
      {of.nickname || <span className="hint">No nickname</span>}
      {may && (
        <button ref={pencil} type="button" className="icon" aria-label="Edit the nickname" title="Edit the nickname" onClick={() => setEditing(true)}>
          <Pencil />
        </button>
      )}
    </h1>
  );
}

function NicknameForm({ of, close, changed }: { of: Named; close: () => void; changed: () => void }) {
  const { physicalId, nickname } = of;
  const [name, setName] = useState(nickname ?? '');
  const [reason, setReason] = useState('');
  useUnsaved(name !== (nickname ?? '') || reason !== '');
  const made = useMadeFrom(of, async () => (await readNow(now, { physicalId })).subscriber, { nickname: (theirs) => setName(theirs ?? '') });
  const save = useDo(async () => {
    await made.send((expectedVersion) => sendMutation(edit, { input: { physicalId, expectedVersion, nickname: name, ...given(reason) } }));
    close();
    changed();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  // The same Escape would close the question, too.
  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    leaveBy(close);
  };
  return (
    <>
      <h1 className="visually-hidden">{nickname || physicalId}</h1>
      <form onSubmit={submit} onKeyDown={leave}>
        <div className="row">
          <input aria-label="Nickname" value={name} maxLength={256} autoFocus onChange={(event) => setName(event.target.value)} />
          <Reason isBare value={reason} change={setReason} />
          <button type="submit" className="primary" disabled={save.busy}>Save</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
        <EditFailure save={save} of={made} subject={['Subscriber', physicalId]} />
      </form>
    </>
  );
}
