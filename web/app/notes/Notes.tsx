import { Suspense, useState } from 'react';
import { moment } from '../format/time';
import { count } from '../format/units';
import { useList } from '../graph/list';
import { useGroupNames } from '../picker/choices';
import { part } from '../shell/part';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { to, toSubscriber } from '../shell/route';
import { useUndo } from '../shell/undo';
import { useZone } from '../shell/viewer';
import { hides, list } from './note';
import { NoteTools } from './NoteTools';

const NoteForm = part(() => import('./NoteForm'));

/** The notes that the viewer sees, the latest moment first. */
export default function Notes() {
  const timeZone = useZone();
  const { hidden } = useUndo();
  const { rows, total, more, empty, reading, problem, reload } = useList(list, {}, ({ notes }) => notes);
  const groups = useGroupNames(rows.slice(0, 100).map(({ groupId }) => groupId));
  const [pinning, setPinning] = useState(false);
  return (
    <Panel id="notes" title="Notes" aside={<button type="button" className="quiet" onClick={() => setPinning(true)}>Pin a note</button>}>
      {problem && <Failure problem={problem} retry={reload} />}
      {empty && reading && <Loading label="Reading the notes" />}
      {!reading && !problem && rows.length === 0 && <Empty>There is no note yet. Charts over time have a button that pins one to a moment.</Empty>}
      <ul className="plain-list">
        {rows.filter(({ noteId }) => !hidden.has(hides(noteId))).map((one) => (
          <li key={one.noteId}>
            {moment(one.startsAt, timeZone)}{one.endsAt && ` to ${moment(one.endsAt, timeZone)}`} · {one.text}{' '}
            <span className="hint">
              {one.physicalId !== null ? <a href={toSubscriber(one.physicalId)}>{one.physicalId}</a> : one.groupId !== null ? <a href={to('group', {}, String(one.groupId))}>{groups.get(String(one.groupId)) ?? `group ${one.groupId}`}</a> : 'the whole company'}
              {one.owner && `, by ${one.owner}`}
            </span>{' '}
            <NoteTools of={one} />
          </li>
        ))}
      </ul>
      {more && !reading && <p className="actions"><button type="button" onClick={more}>Show older</button></p>}
      {more && total !== undefined && <p className="hint">{count(rows.length)} of {count(total)}.</p>}
      {pinning && <Suspense><NoteForm close={() => setPinning(false)} /></Suspense>}
    </Panel>
  );
}
