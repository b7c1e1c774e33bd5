import { type FormEvent, useState } from 'react';
import { atWallClock, wallClock } from '../format/time';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { nouns, useGroupNames } from '../picker/choices';
import { MomentField } from '../picker/Date';
import { Pick } from '../picker/Picker';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { useMay, useViewer } from '../shell/viewer';
import { type About, create, edit, type Note, one } from './note';

interface Props {
  /** The note to change; none to pin one. */
  of?: Note;
  /** What the chart of a new one is about, and the moment that it begins with. */
  about?: About;
  at?: number;
  close: () => void;
}

/** Pins a note to a moment, or changes one. */
export default function NoteForm({ of, about = {}, at = Date.now(), close }: Props) {
  const { company: { timeZone }, isRestricted } = useViewer();
  const mayGroups = useMay('VIEW_SUBSCRIBER');
  const clock = (moment: string | number | null | undefined) => (moment == null ? '' : wallClock(moment, timeZone));
  const [text, setText] = useState(of?.text ?? '');
  const [starts, setStarts] = useState(clock(of?.startsAt ?? at));
  const [ends, setEnds] = useState(clock(of?.endsAt));
  const [first, setFirst] = useState({ starts, ends });
  const isOfGroup = about.physicalId == null && about.groupId == null;
  const [subject, setSubject] = useState(about.physicalId != null ? 'subscriber' : about.groupId != null ? 'group' : '');
  const [group, setGroup] = useState('');
  const groups = useGroupNames([about.groupId]);
  const [start, end] = [starts, ends].map((one) => (one === '' ? null : atWallClock(one, timeZone))) as [number | null, number | null];
  const missing = text.trim() === '' ? 'Write the note.' : start === null || Number.isNaN(start) ? 'Write the moment.' : end !== null && !(end > start) ? 'It must end after it begins.'
    : !of && isRestricted && isOfGroup && group === '' ? 'Choose a group that you see.' : null;
  const made = useMadeFrom(of, async () => (await readNow(one, { noteId: of!.noteId })).note, {
    text: setText,
    startsAt: (theirs) => { setStarts(clock(theirs)); setFirst((was) => ({ ...was, starts: clock(theirs) })); },
    endsAt: (theirs) => { setEnds(clock(theirs)); setFirst((was) => ({ ...was, ends: clock(theirs) })); },
  }, timeZone);
  const save = useDo(async () => {
    const instant = (moment: number | null) => (moment === null ? null : new Date(moment).toISOString());
    // A moment that is not changed keeps its seconds.
    if (of) {
      const changed = { text: text.trim(), ...(starts !== first.starts && { startsAt: instant(start)! }), ...(ends !== first.ends && { endsAt: instant(end) }) };
      await made.send((expectedVersion) => mutate(edit, { input: { noteId: of.noteId, expectedVersion, ...changed } }));
    } else {
      const whose = subject === 'subscriber' ? { physicalId: about.physicalId } : subject === 'group' ? { groupId: about.groupId } : group !== '' ? { groupId: Number(group) } : {};
      await mutate(create, { input: { text: text.trim(), startsAt: instant(start)!, endsAt: instant(end), ...whose } });
    }
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null) void save.run();
  };
  return (
    <Dialog title={of ? 'Change the note' : 'Pin a note'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Note<input value={text} autoFocus required maxLength={500} placeholder="New firmware on the meters" onChange={(event) => setText(event.target.value)} /></label>
        <div className="fields two">
          <MomentField label="Moment" value={starts} isRequired change={setStarts} />
          <MomentField label="Ends, where it lasts" value={ends} change={setEnds} />
        </div>
        <p className="hint">By the clocks of {timeZone}.</p>
        {!of && (isOfGroup ? mayGroups && (
          <Pick of={nouns.group} label="Group that it is about" value={group} change={setGroup} placeholder={isRestricted ? 'A group that you see' : 'The whole company'} isRequired={isRestricted} />
        ) : (
          <label>About
            <select value={subject} onChange={(event) => setSubject(event.target.value)}>
              {about.physicalId != null && <option value="subscriber">The subscriber {about.physicalId}</option>}
              {about.groupId != null && <option value="group">The group {groups.get(String(about.groupId)) ?? about.groupId}</option>}
              {!isRestricted && <option value="">The whole company</option>}
            </select>
          </label>
        ))}
        <p className="hint">Everybody who sees what it is about reads it; a note about the whole company, everybody who sees usage.</p>
        {missing && <p className="hint" role="status">{missing}</p>}
        <EditFailure save={save} of={made} subject={['Note', of?.noteId ?? '']} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || missing !== null}>{of ? 'Save' : 'Pin'}</button>
        </p>
      </form>
    </Dialog>
  );
}
