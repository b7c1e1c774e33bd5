import { type FormEvent, useState } from 'react';
import { atWallClock, wallClock } from '../format/time';
import { graphql, type VariablesOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { MomentField } from '../picker/Date';
import { EditFailure } from '../shell/EditFailure';
import { useZone } from '../shell/viewer';
import { Sheet } from '../ui/Sheet';
import { AlertsAndGroups, All, scopeOf } from './Choices';
import type { Silence } from './Silences';
import type { Place } from './silences';
import { weekdays } from './words';

const create = graphql('mutation CreateSilence($input: CreateSilenceInput!) { createSilence(input: $input) { silence { silenceId } } }');
const edit = graphql('mutation EditSilence($input: EditSilenceInput!) { editSilence(input: $input) { silence { silenceId } } }');
const now = graphql(`query SilenceNow($silenceId: Int!) {
  silence(by: {silenceId: $silenceId}) { version reason endsAt alertIds groupIds tagNames physicalIds weekly { weekday from until } }
}`);

type Weekday = Extract<VariablesOf<typeof create>['input']['times'], { weekly: unknown }>['weekly'][number]['weekday'];

const hour = 3_600_000;
const listOf = (text: string) => text.split(/[\s,;]+/).filter(Boolean);

const isAll = ({ alertIds, groupIds, tagNames, physicalIds }: Pick<Silence, 'alertIds' | 'groupIds' | 'tagNames' | 'physicalIds'>) => alertIds.length + groupIds.length + tagNames.length + physicalIds.length === 0;

interface Props {
  /** The silence to change; none to make one. */
  of?: Silence;
  /** What a new one begins with. */
  first?: { place: Place; reason: string; endsAt: number };
  close: () => void;
}

/** Makes a silence, or changes one. */
export default function SilenceForm({ of, first, close }: Props) {
  const place = first?.place;
  const timeZone = useZone();
  const [reason, setReason] = useState(of?.reason ?? first?.reason ?? '');
  const [starts, setStarts] = useState(() => wallClock(of?.startsAt ?? Date.now(), timeZone));
  const [ends, setEnds] = useState(() => wallClock(of?.endsAt ?? first?.endsAt ?? Date.now() + 2 * hour, timeZone));
  const [days, setDays] = useState<ReadonlySet<Weekday>>(new Set(of?.weekly.map(({ weekday }) => weekday)));
  const [from, setFrom] = useState(of?.weekly[0]?.from ?? '22:00');
  const [until, setUntil] = useState(of?.weekly[0]?.until ?? '06:00');
  const [alerts, setAlerts] = useState<ReadonlySet<string>>(new Set(place?.kind === 'alert' ? [String(place.alertId)] : of?.alertIds.map(String)));
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set(place?.kind === 'group' ? [String(place.groupId)] : of?.groupIds.map(String)));
  const [all, setAll] = useState(place?.kind === 'all' || (of !== undefined && isAll(of)));
  const [tags, setTags] = useState(of?.tagNames.join(', ') ?? '');
  const [subscribers, setSubscribers] = useState(place?.kind === 'subscriber' ? place.physicalId : (of?.physicalIds.join(', ') ?? ''));
  // Other clients make windows whose times differ by the day; this form leaves those as they are.
  const [windows, setWindows] = useState(of?.weekly);
  const uniform = new Set(windows?.map((one) => `${one.from} ${one.until}`)).size <= 1;
  const start = atWallClock(starts, timeZone);
  const end = atWallClock(ends, timeZone);
  const missing = reason.trim() === '' ? 'Write why.' : Number.isNaN(start) || Number.isNaN(end) ? 'Write when it begins and ends.' : end <= start ? 'It must end after it begins.' : end <= Date.now() ? 'It must end in the future.' : null;
  const matcher = { alertIds: [...alerts].map(Number), groupIds: [...groups].map(Number), tagNames: tags.split(',').map((tag) => tag.trim()).filter(Boolean), physicalIds: listOf(subscribers) };
  const unsaid = !all && Object.values(matcher).every((list) => list.length === 0);
  const made = useMadeFrom(of, async () => (await readNow(now, { silenceId: of!.silenceId })).silence, {
    reason: setReason, endsAt: (theirs) => setEnds(wallClock(theirs, timeZone)),
    alertIds: (theirs, whole) => { setAlerts(new Set(theirs.map(String))); setAll(isAll(whole)); },
    groupIds: (theirs, whole) => { setGroups(new Set(theirs.map(String))); setAll(isAll(whole)); },
    tagNames: (theirs, whole) => { setTags(theirs.join(', ')); setAll(isAll(whole)); },
    physicalIds: (theirs, whole) => { setSubscribers(theirs.join(', ')); setAll(isAll(whole)); },
    weekly: (theirs) => {
      setWindows(theirs);
      setDays(new Set(theirs.map(({ weekday }) => weekday)));
      setFrom(theirs[0]?.from ?? '22:00');
      setUntil(theirs[0]?.until ?? '06:00');
    },
  }, timeZone);
  const save = useDo(async () => {
    const weekly = weekdays.filter(({ value }) => days.has(value)).map(({ value }) => ({ weekday: value, from, until }));
    const times = uniform && { times: weekly.length === 0 ? { all: true } : { weekly } };
    const rest = { reason: reason.trim(), endsAt: new Date(end).toISOString(), ...times, scope: scopeOf(all, matcher) };
    if (of) await made.send((expectedVersion) => mutate(edit, { input: { silenceId: of.silenceId, expectedVersion, ...rest } }));
    else await mutate(create, { input: { startsAt: new Date(start).toISOString(), ...rest } });
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null && !unsaid) void save.run();
  };
  return (
    <Sheet title={of ? 'Change the silence' : 'New silence'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Why<input value={reason} autoFocus required maxLength={255} placeholder="Firmware update of the vans" onChange={(event) => setReason(event.target.value)} /></label>
        <div className="fields two">
          <MomentField label="Begins" value={starts} isDisabled={of !== undefined} isRequired change={setStarts} />
          <MomentField label="Ends" value={ends} isRequired change={setEnds} />
        </div>
        <p className="hint">By the clocks of {timeZone}. It lasts 366 days at most.</p>
        {uniform ? (
          <>
            <fieldset className="choices">
              <legend>Only on some days of the week</legend>
              {weekdays.map(({ value, name }) => (
                <label key={value} className="inline"><input type="checkbox" checked={days.has(value)} onChange={(event) => setDays(new Set(event.target.checked ? [...days, value] : [...days].filter((one) => one !== value)))} /> {name}</label>
              ))}
            </fieldset>
            {days.size > 0 && (
              <div className="fields two">
                <label>From<input type="time" value={from} required onChange={(event) => setFrom(event.target.value)} /></label>
                <label>Until<input type="time" value={until} required onChange={(event) => setUntil(event.target.value)} /></label>
              </div>
            )}
          </>
        ) : <p className="hint">Its windows of the week stay as they are.</p>}
        <All name="Every alert" said={all} unsaid={unsaid} change={setAll}>An alert must fit all that is chosen.</All>
        {!all && (
          <>
            <AlertsAndGroups alerts={alerts} setAlerts={setAlerts} groups={groups} setGroups={setGroups} />
            <label>Tags, with commas<input value={tags} onChange={(event) => setTags(event.target.value)} /></label>
            <label>Subscribers, by ICCID, device EUI or IMEI<input value={subscribers} onChange={(event) => setSubscribers(event.target.value)} /></label>
          </>
        )}
        {missing && <p className="hint" role="status">{missing}</p>}
        <EditFailure save={save} of={made} subject={['Silence', String(of?.silenceId)]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || missing !== null || unsaid}>{of ? 'Save' : 'Silence'}</button>
        </p>
      </form>
    </Sheet>
  );
}
