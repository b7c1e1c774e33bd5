import { type FormEvent, useId, useState } from 'react';
import { count } from '../format/units';
import type { ResultOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, sendMutation, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { Empty, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useGroupNames } from '../picker/choices';
import { useViewer } from '../shell/viewer';
import { create, edit, type Kept, type list, one, remove } from './kept';
import { type Definition, inWords, paramsOf } from './question';
import { ready } from './ready';

type Listed = NonNullable<NonNullable<ResultOf<typeof list>['company']>['questions']>;

const hides = (questionId: string) => `question/${questionId}`;

/** The questions that are kept, by folder, and the ready ones. */
export function Questions({ of, current }: { of: Listed | undefined; current: string | null }) {
  const { hidden } = useUndo();
  const shown = of?.nodes.filter(({ questionId }) => !hidden.has(hides(questionId))) ?? [];
  const folders = [...new Set(shown.map(({ folder }) => folder ?? ''))].sort();
  const groups = useGroupNames(shown.map(({ definition }) => definition.groupId));
  return (
    <Panel id="questions" title="Questions">
      {of && shown.length === 0 && <Empty>You keep no question yet. Ask one above and save it, or open a ready one.</Empty>}
      <div className="folders">
        {folders.map((folder) => (
          <section key={folder}>
            <h3>{folder || 'Without a folder'}</h3>
            <ul className="plain-list">
              {shown.filter((one) => (one.folder ?? '') === folder).map((one) => <One key={one.questionId} of={one} groups={groups} isCurrent={one.questionId === current} />)}
            </ul>
          </section>
        ))}
        <section>
          <h3>Ready questions</h3>
          <ul className="plain-list">
            {ready.map(({ name, description, definition }) => (
              <li key={name}><a href={to('usage', paramsOf(definition))}>{name}</a> <span className="hint">{description}</span></li>
            ))}
          </ul>
        </section>
      </div>
      {of && (of.totalCount ?? 0) > of.nodes.length && <p className="hint">The first {count(of.nodes.length)} of {count(of.totalCount ?? 0)}, by name. The search of the page finds all.</p>}
    </Panel>
  );
}

function One({ of, groups, isCurrent }: { of: Kept; groups: ReadonlyMap<string, string>; isCurrent: boolean }) {
  const { email } = useViewer();
  const drop = () => {
    if (isCurrent) go(to('usage', paramsOf(of.definition)));
    offerUndo({ hides: hides(of.questionId), text: `The question ${of.name} is deleted.`, commit: () => sendMutation(remove, { input: { questionId: of.questionId } }, { keepalive: true }) });
  };
  return (
    <li>
      <a href={to('usage', paramsOf(of.definition, of.questionId))} aria-current={isCurrent ? 'true' : undefined}>{of.name}</a>{' '}
      {of.isShared && <span className="badge">{of.owner === email ? 'shared' : `shared by ${of.owner || 'the company'}`}</span>}{' '}
      <span className="hint">{of.description ?? inWords(of.definition, groups.get(String(of.definition.groupId)))}</span>{' '}
      {of.isEditable && <button type="button" className="quiet" aria-label={`Delete the question ${of.name}`} onClick={drop}>Delete</button>}
    </li>
  );
}

interface FormProps {
  /** The question that is changed; null for a new one. */
  of: Kept | null;
  definition: Definition;
  folders: string[];
  close: () => void;
}

/** Keeps a question, or changes one: its name, its folder, who sees it, and what it asks. */
export function SaveForm({ of, definition, folders, close }: FormProps) {
  const id = useId();
  const { email } = useViewer();
  const [name, setName] = useState(of?.name ?? '');
  const [folder, setFolder] = useState(of?.folder ?? '');
  const [description, setDescription] = useState(of?.description ?? '');
  const [isShared, setShared] = useState(of?.isShared ?? false);
  const mayHide = of === null || of.owner === email || !of.isShared;
  const [asks, setAsks] = useState(definition);
  const made = useMadeFrom(of, async () => (await readNow(one, { questionId: of!.questionId })).question, {
    name: setName, folder: (theirs) => setFolder(theirs ?? ''), description: (theirs) => setDescription(theirs ?? ''), isShared: setShared, definition: setAsks,
  });
  const save = useDo(async () => {
    const input = { name: name.trim(), folder: folder.trim(), description: description.trim(), isShared, definition: asks };
    const questionId = of ? (await made.send((expectedVersion) => mutate(edit, { input: { questionId: of.questionId, expectedVersion, ...input } }))).editQuestion?.question.questionId : (await mutate(create, { input })).createQuestion?.question.questionId;
    close();
    go(to('usage', paramsOf(asks, questionId ?? null)));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title={of ? 'Save the question' : 'Keep the question'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Name<input autoFocus required maxLength={256} value={name} onChange={(event) => setName(event.target.value)} /></label>
        <label>Folder<input maxLength={256} list={`${id}-folders`} placeholder="None" value={folder} onChange={(event) => setFolder(event.target.value)} /></label>
        <datalist id={`${id}-folders`}>{folders.map((one) => <option key={one} value={one} />)}</datalist>
        <label>What it is for<input maxLength={2000} value={description} onChange={(event) => setDescription(event.target.value)} /></label>
        <label className="inline"><input type="checkbox" checked={isShared} disabled={!mayHide} onChange={(event) => setShared(event.target.checked)} /> Share it with the company</label>
        <p className="hint">Who opens a shared question sees the usage that they may see: users of groups that of their groups. They do not see questions about another group.</p>
        <EditFailure save={save} of={made} subject={['Question', of?.questionId ?? '']} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || name.trim() === ''}>Save</button>
        </p>
      </form>
    </Dialog>
  );
}
