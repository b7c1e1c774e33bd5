import { type FormEvent, type ReactNode, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { EditFailure } from '../shell/EditFailure';
import { useUnsaved } from '../shell/unsaved';
import { useMay, useViewer } from '../shell/viewer';
import type { Upstream } from './UpstreamPage';
import { type Side, sides } from './words';

const create = graphql('mutation CreateUpstream($input: CreateUpstreamInput!) { createUpstream(input: $input) { upstream { upstreamId } } }');
const edit = graphql('mutation EditUpstream($input: EditUpstreamInput!) { editUpstream(input: $input) { upstream { upstreamId } } }');
const now = graphql('query UpstreamNow($upstreamId: Int!) { upstream(by: {upstreamId: $upstreamId}) { version name baseUrl nicknamesAndTags days isCopyingAlerts isCopyingRecipients } }');

/** Whether the viewer may connect accounts, which change all that is copied. */
export function useMayChangeUpstreams(): boolean {
  const { isRestricted } = useViewer();
  return useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER', 'MANAGE_INVENTORY', 'RECORD_USAGE', 'VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS') && !isRestricted;
}

interface Props {
  /** The one that is edited; missing for a new one. */
  of?: Upstream;
  verb: string;
  done: (upstreamId: number) => void;
  cancel?: ReactNode;
}

/** Where the account of another server is read, by which key, and what is taken over. */
export function UpstreamForm({ of, verb, done, cancel }: Props) {
  const mayRecipients = useMay('VIEW_A_USERS_DETAILS');
  const [name, setName] = useState(of?.name ?? '');
  const [baseUrl, setBaseUrl] = useState(of?.baseUrl ?? '');
  const [key, setKey] = useState('');
  const [side, setSide] = useState<Side>(of?.nicknamesAndTags ?? 'OURS');
  const [days, setDays] = useState(String(of?.days ?? 60));
  const [alerts, setAlerts] = useState(of?.isCopyingAlerts ?? true);
  const [recipients, setRecipients] = useState(of?.isCopyingRecipients ?? false);
  const [typed, setTyped] = useState(false);
  useUnsaved(typed);
  const missing = name.trim() === '' ? 'Write a name.' : !/^https?:\/\/./.test(baseUrl.trim()) ? 'Write the address, such as https://old.example.'
    : key.trim() === '' && (!of || baseUrl.trim() !== of.baseUrl) ? 'An access key of the other server is needed, as ID:SECRET.' : !/^\d{1,3}$/.test(days) ? 'Write 1 to 400 days.' : null;
  const from = useMadeFrom(of, async () => (await readNow(now, { upstreamId: of!.upstreamId })).upstream, {
    name: setName, baseUrl: setBaseUrl, nicknamesAndTags: setSide, days: (theirs) => setDays(String(theirs)), isCopyingAlerts: setAlerts, isCopyingRecipients: setRecipients,
  });
  const save = useDo(async () => {
    const input = { name: name.trim(), baseUrl: baseUrl.trim(), nicknamesAndTags: side, days: Number(days), isCopyingAlerts: alerts, ...(mayRecipients && { isCopyingRecipients: recipients }) };
    const made = of ? (await from.send((expectedVersion) => mutate(edit, { input: { ...input, upstreamId: of.upstreamId, expectedVersion, ...(key.trim() !== '' && { key: key.trim() }) } }))).editUpstream : (await mutate(create, { input: { ...input, key: key.trim() } })).createUpstream;
    setTyped(false);
    setKey('');
    if (made) done(made.upstream.upstreamId);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null) void save.run();
  };
  return (
    <form className="stacked" onSubmit={submit} onInput={() => setTyped(true)}>
      <div className="fields">
        <label>Name<input maxLength={256} required value={name} onChange={(event) => setName(event.target.value)} /></label>
        <label>Address of the other server<input type="url" placeholder="https://old.example" required value={baseUrl} onChange={(event) => setBaseUrl(event.target.value)} /></label>
        <label>Access key of the other server<input type="password" autoComplete="off" placeholder={of ? 'unchanged' : 'ID:SECRET'} value={key} onChange={(event) => setKey(event.target.value)} /></label>
        <label>Days of usage<input inputMode="numeric" value={days} onChange={(event) => setDays(event.target.value)} /></label>
      </div>
      <fieldset className="choices">
        <legend>Nicknames and tags</legend>
        {(Object.keys(sides) as Side[]).map((each) => (
          <label key={each} className="inline"><input type="radio" name="side" checked={side === each} onChange={() => setSide(each)} /> {sides[each]}</label>
        ))}
      </fieldset>
      {side !== 'OURS' && of?.nicknamesAndTags === 'OURS' && <p className="hint">The first reading makes them what they are there: what was edited here before is lost.</p>}
      {side === 'WRITTEN_THROUGH' && <p className="hint">The key needs the permission Update the Details of a Subscriber there.</p>}
      <fieldset className="choices">
        <legend>What else is copied</legend>
        <label className="inline"><input type="checkbox" checked={alerts} onChange={(event) => setAlerts(event.target.checked)} /> Alerts, with their log</label>
        {mayRecipients && <label className="inline"><input type="checkbox" checked={recipients} onChange={(event) => setRecipients(event.target.checked)} /> Recipients: both sides send mail then</label>}
      </fieldset>
      {missing && <p className="hint" role="status">{missing}</p>}
      <EditFailure save={save} of={from} subject={['Upstream', String(of?.upstreamId)]} />
      <p className="actions">
        <button type="submit" className="primary" disabled={save.busy || missing !== null}>{verb}</button>
        {cancel}
      </p>
    </form>
  );
}
