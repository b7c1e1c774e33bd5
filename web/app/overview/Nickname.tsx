import { type FormEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ask } from '../graph/client';
import { operation } from '../graph/graphql';
import { useDo } from '../graph/use';
import { Pencil } from '../shell/icons';
import { Failure } from '../shell/parts';
import { useMay } from '../shell/viewer';

const edit = operation(`mutation EditNickname($input: EditSubscriberInput!) {
  editSubscriber(input: $input) { subscriber { physicalId nickname } }
}`);

/** The nickname as the heading, to be edited in place. */
export function Nickname({ physicalId, nickname, changed }: { physicalId: string; nickname: string | null; changed: () => void }) {
  const may = useMay('VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const [editing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  // The focus goes back to where it was before the form was opened.
  const close = () => {
    flushSync(() => setEditing(false));
    pencil.current?.focus();
  };
  const save = useDo(async (name: string) => {
    await ask(edit, { input: { physicalId, nickname: name } });
    close();
    changed();
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void save.run(String(new FormData(event.currentTarget).get('nickname')));
  };
  if (!editing)
    return (
      <h1 className="named">
        {nickname || <span className="hint">No nickname</span>}
        {may && (
          <button ref={pencil} type="button" className="icon" aria-label="Edit the nickname" title="Edit the nickname" onClick={() => { save.clear(); setEditing(true); }}>
            <Pencil />
          </button>
        )}
      </h1>
    );
  return (
    <>
      <h1 className="visually-hidden">{nickname || physicalId}</h1>
      <form className="row" onSubmit={submit} onKeyDown={(event) => event.key === 'Escape' && close()}>
        <input name="nickname" aria-label="Nickname" defaultValue={nickname ?? ''} maxLength={256} autoFocus />
        <button type="submit" className="primary" disabled={save.busy}>Save</button>
        <button type="button" onClick={close}>Cancel</button>
      </form>
      {save.problem && <Failure problem={save.problem} />}
    </>
  );
}
