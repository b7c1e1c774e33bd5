import { type FormEvent, useId, useState } from 'react';
import { mutate, useAsk, useDo } from '../graph/use';
import { useGroupNames } from '../picker/choices';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure } from '../shell/parts';
import { go, to } from '../shell/route';
import { useViewer } from '../shell/viewer';
import { list as questions } from '../usage/kept';
import { type Definition, inWords } from '../usage/question';
import { ready } from '../usage/ready';
import { added, type Board, boardOf, type Common, commonParams, mostTiles, put, swapped, type Tile, tileInput } from './board';
import { create, edit, list, one } from './kept';
import { readNow } from '../graph/use';

interface CreateProps {
  board: Board;
  common: Common;
  close: () => void;
}

/** Keeps a new dashboard: an empty one, or a copy. */
export function CreateForm({ board, common, close }: CreateProps) {
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const save = useDo(async () => {
    const input = { name: name.trim(), description: board.description, isShared, refreshMinutes: board.refreshMinutes, common, tiles: board.tiles.filter(({ definition }) => definition).map((tile) => tileInput({ ...tile, tileId: null })) };
    const made = await mutate(create, { input });
    close();
    go(to('dashboard', { edit: '1' }, made.createDashboard!.dashboard.dashboardId));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title={board.tiles.length > 0 ? `Copy ${board.name}` : 'New dashboard'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Name<input autoFocus required maxLength={256} value={name} onChange={(event) => setName(event.target.value)} /></label>
        <label className="inline"><input type="checkbox" checked={isShared} onChange={(event) => setShared(event.target.checked)} /> Share it with the company</label>
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || name.trim() === ''}>{board.tiles.length > 0 ? 'Copy' : 'Create'}</button>
        </p>
      </form>
    </Dialog>
  );
}

/** Chooses a question for a new tile: one that is kept, or a ready one. */
export function AddTile({ add, close }: { add: (question: Tile['question'], definition: Definition) => void; close: () => void }) {
  const { data, problem, reload } = useAsk(questions);
  const [text, setText] = useState('');
  const fits = (name: string) => name.toLowerCase().includes(text.trim().toLowerCase());
  const kept = (data?.company?.questions?.nodes ?? []).filter(({ name }) => fits(name));
  const offered = ready.filter(({ name }) => fits(name));
  const groups = useGroupNames(kept.map(({ definition }) => definition.groupId));
  return (
    <Dialog title="Add a tile" passing cancel={close}>
      <label className="stacked">Find a question<input autoFocus value={text} onChange={(event) => setText(event.target.value)} /></label>
      {problem && <Failure problem={problem} retry={reload} />}
      <ul className="plain-list choices" aria-label="Questions">
        {kept.map(({ questionId, name, isShared, definition }) => (
          <li key={questionId}><button type="button" onClick={() => add({ questionId, name, isShared }, definition)}>{name}</button> <span className="hint">{inWords(definition, groups.get(String(definition.groupId)))}</span></li>
        ))}
        {offered.map(({ name, description, definition }) => <li key={name}><button type="button" onClick={() => add(null, definition)}>{name}</button> <span className="hint">{description}</span></li>)}
      </ul>
      {kept.length + offered.length === 0 && <Empty>No question has such a name.</Empty>}
      <p className="hint">For another question, ask it at <a href={to('usage')}>Usage</a>, and add its answer to the dashboard there.</p>
      <p className="actions"><button type="button" onClick={close}>Cancel</button></p>
    </Dialog>
  );
}

/** Moves a tile and changes its size by buttons, for the keyboard. */
export function TileTools({ of, tiles, change }: { of: Tile; tiles: Tile[]; change: (tiles: Tile[]) => void }) {
  const by = (part: Partial<Tile>) => () => change(put(tiles, of.key, part));
  return (
    <div className="tile-tools" role="group" aria-label="Place and size">
      <button type="button" className="quiet" onClick={by({ column: of.column - 1 })}>Left</button>
      <button type="button" className="quiet" onClick={by({ column: of.column + 1 })}>Right</button>
      <button type="button" className="quiet" onClick={() => change(swapped(tiles, of.key, false))}>Up</button>
      <button type="button" className="quiet" onClick={() => change(swapped(tiles, of.key, true))}>Down</button>
      <button type="button" className="quiet" onClick={by({ width: of.width - 1 })}>Narrower</button>
      <button type="button" className="quiet" onClick={by({ width: of.width + 1 })}>Wider</button>
      <button type="button" className="quiet" onClick={by({ height: of.height - 1 })}>Lower</button>
      <button type="button" className="quiet" onClick={by({ height: of.height + 1 })}>Higher</button>
    </div>
  );
}

/** Adds a question to a dashboard that the viewer may change. */
export function AddToDashboard({ question, definition, close }: { question: Tile['question']; definition: Definition; close: () => void }) {
  const id = useId();
  const { email } = useViewer();
  const { data, problem, reload } = useAsk(list);
  const [chosen, setChosen] = useState('');
  const offered = (data?.company?.dashboards?.nodes ?? []).filter(({ isEditable }) => isEditable);
  const save = useDo(async () => {
    const { dashboard } = await readNow(one, { dashboardId: chosen });
    if (!dashboard) throw new Error('The dashboard is not there any more.');
    if (dashboard.tiles.length >= mostTiles) throw new Error(`A dashboard has at most ${mostTiles} tiles.`);
    const { tiles } = boardOf(dashboard);
    await mutate(edit, { input: { dashboardId: chosen, expectedVersion: dashboard.version, tiles: added(tiles, question, definition).map(tileInput) } });
    close();
    go(to('dashboard', {}, chosen));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title="Add to a dashboard" passing cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label htmlFor={id}>Dashboard
          <select id={id} autoFocus required value={chosen} onChange={(event) => setChosen(event.target.value)}>
            <option value="" disabled>Choose …</option>
            {offered.map(({ dashboardId, name, owner }) => <option key={dashboardId} value={dashboardId}>{owner === email ? name : `${name} (${owner || 'the company'})`}</option>)}
          </select>
        </label>
        {data && offered.length === 0 && <p className="hint">You have no dashboard that you may change. <a href={to('dashboards')}>Make one</a></p>}
        {(problem ?? save.problem) && <Failure problem={(problem ?? save.problem)!} retry={problem && reload} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || chosen === ''}>Add</button>
        </p>
      </form>
    </Dialog>
  );
}

/** The address of a dashboard with what is common. */
export const addressOf = (id: string, common: Common, more: Record<string, string> = {}) => to('dashboard', { ...commonParams(common), ...more }, id);
