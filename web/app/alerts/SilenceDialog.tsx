import { type FormEvent, Suspense, useState } from 'react';
import { moment } from '../format/time';
import { graphql } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { part } from '../shell/part';
import { Failure } from '../shell/parts';
import { useZone } from '../shell/viewer';
import '../styles/lists.css';
import { type Place, scopeOfPlace } from './silences';

const create = graphql('mutation SilenceHere($input: CreateSilenceInput!) { createSilence(input: $input) { silence { silenceId } } }');

const Whole = part(() => import('./SilenceForm'));

const hour = 3_600_000;
const lengths = [[1, 'an hour'], [2, '2 hours'], [4, '4 hours'], [8, '8 hours'], [24, 'a day'], [72, '3 days'], [168, 'a week']] as const;

interface DialogProps {
  /** What can be silenced. Of several, one is chosen. */
  of: Place[];
  close: () => void;
}

/** Silences a place from now on. */
export default function SilenceDialog({ of, close }: DialogProps) {
  const timeZone = useZone();
  const [chosen, choose] = useState<Place | null>(of.length === 1 ? of[0]! : null);
  const [reason, setReason] = useState('');
  const [length, setLength] = useState(2);
  const [more, setMore] = useState(false);
  const missing = chosen === null ? 'Choose what to silence.' : reason.trim() === '' ? 'Write why.' : null;
  const until = Date.now() + length * hour;
  const save = useDo(async () => {
    await mutate(create, { input: { reason: reason.trim(), endsAt: new Date(Date.now() + length * hour).toISOString(), scope: scopeOfPlace(chosen!) } });
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null) void save.run();
  };
  if (more && chosen) return <Suspense><Whole first={{ place: chosen, reason, endsAt: until }} close={close} /></Suspense>;
  return (
    <Dialog title={of.length === 1 ? `Silence ${nameOf(of[0]!)}` : 'Silence'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        {of.length > 1 && (
          <fieldset className="choices">
            <legend>What</legend>
            {of.map((place) => (
              <label key={place.kind} className="inline"><input type="radio" name="what" checked={place === chosen} onChange={() => choose(place)} /> {nameOf(place)}</label>
            ))}
          </fieldset>
        )}
        <label>Why<input value={reason} autoFocus required maxLength={255} placeholder="Maintenance" onChange={(event) => setReason(event.target.value)} /></label>
        <label>For how long
          <select value={length} onChange={(event) => setLength(Number(event.target.value))}>{lengths.map(([hours, name]) => <option key={hours} value={hours}>{name}</option>)}</select>
        </label>
        <p className="hint">Until {moment(until, timeZone)} ({timeZone}). What fires meanwhile is logged, and nobody is notified, now or later.</p>
        {missing && <p className="hint" role="status">{missing}</p>}
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="button" className="quiet" disabled={chosen === null} onClick={() => setMore(true)}>More choices</button>
          <button type="submit" className="primary" disabled={save.busy || missing !== null}>Silence</button>
        </p>
      </form>
    </Dialog>
  );
}

/** A place as the object of "Silence". */
const nameOf = ({ kind, name }: Place) => ({ subscriber: `the subscriber ${name}`, group: `the group ${name} and its subscribers`, alert: `the alert: ${name}`, all: 'every alert' })[kind];
