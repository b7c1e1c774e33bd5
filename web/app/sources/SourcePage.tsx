import { type FormEvent, useState } from 'react';
import { moment } from '../format/time';
import { graphql, type ResultOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Secret } from '../ui/Secret';
import { type Address, useAddress } from './address';
import { hiddenSecret } from './commands';
import { AuthenticationFields } from './ConnectCarrier';
import { useMayConnect } from './Frame';
import { HowToFile, HowToPost } from './HowToSend';
import { useRefreshed } from './PagedPanel';
import { profilesQuery } from './profile';
import { SourceRejects } from './SourceRejects';
import { authentications, CountTiles, State } from './words';
import '../styles/lists.css';
import '../styles/sources.css';

const query = graphql(`
  query SourceOnPage($name: String!) {
    source(by: {name: $name}) { name version path profileName authentication signatureHeader createdAt pausedAt receivedAt previousSecretUntil counts { accepted duplicates waiting rejected skipped } }
  }
`);
const formatQuery = graphql('query FormatOfSource($name: String!) { sourceProfile(name: $name) { format } }');
const pause = graphql('mutation PauseSource($input: PauseSourceInput!) { pauseSource(input: $input) { source { name } } }');
const resume = graphql('mutation ResumeSource($input: ResumeSourceInput!) { resumeSource(input: $input) { source { name } } }');
const rotate = graphql('mutation RotateSourceSecret($input: RotateSourceSecretInput!) { rotateSourceSecret(input: $input) { secret } }');
const edit = graphql('mutation EditSource($input: EditSourceInput!) { editSource(input: $input) { source { name } } }');
const now = graphql('query SourceNow($name: String!) { source(by: {name: $name}) { version profileName authentication signatureHeader } }');
const remove = graphql('mutation DeleteSource($input: DeleteSourceInput!) { deleteSource(input: $input) { sourceName } }');

type Source = NonNullable<ResultOf<typeof query>['source']>;

/** One source: what became of its records, how it sends, and what is done with it. */
export default function SourcePage({ id: name }: { id: string }) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW') && !isRestricted;
  const asked = useAsk(may ? query : null, { name });
  useRefreshed(asked, 10);
  const { data, problem, reload } = asked;
  return (
    <div className="page wide connecting">
      <p className="crumbs"><a href={to('sources')}>Sources</a></p>
      {!may && <Empty>Only users of the whole company with the permission View Statistics Overview see its sources.</Empty>}
      {problem && <Failure problem={problem} retry={reload} more={<a href={to('sources')}>All sources</a>} />}
      {may && !data && !problem && <Loading label="Reading the source" />}
      {data && !data.source && !problem && <Empty>There is no source {name}. <a href={to('sources')}>All sources</a></Empty>}
      {data?.source && <Whole of={data.source} />}
    </div>
  );
}

type Open = 'edit' | 'rotate' | 'delete' | null;

function Whole({ of }: { of: Source }) {
  const timeZone = useZone();
  const mayConnect = useMayConnect();
  const mayReject = useMay('VIEW_SUBSCRIBER');
  const address = useAddress();
  const [open, setOpen] = useState<Open>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const { name, profileName, pausedAt, receivedAt, previousSecretUntil, createdAt, authentication, signatureHeader } = of;
  const turn = useDo(async () => void (await (pausedAt ? mutate(resume, { input: { sourceName: name } }) : mutate(pause, { input: { sourceName: name } }))));
  const close = () => setOpen(null);
  return (
    <>
      <div className="heading">
        <div>
          <h1 className="named">{name} <State of={of} /></h1>
          <p className="hint">{receivedAt ? <>Last received <Ago at={receivedAt} /></> : 'Nothing was received yet'}{pausedAt && <>; paused <Ago at={pausedAt} />: senders are asked to come again</>}</p>
        </div>
        {mayConnect && (
          <div className="row">
            <button type="button" disabled={turn.busy} onClick={() => void turn.run()}>{pausedAt ? 'Resume' : 'Pause'}</button>
            <button type="button" onClick={() => setOpen('edit')}>Edit</button>
            <button type="button" onClick={() => setOpen('rotate')}>New secret</button>
            <button type="button" onClick={() => setOpen('delete')}>Delete</button>
          </div>
        )}
      </div>
      {turn.problem && <Failure problem={turn.problem} />}
      {secret !== null && <Secret title={`The secret of ${name}`} facts={{ Secret: secret }} copies="Copy" close={() => setSecret(null)}><p className="hint">The one before is accepted for 24 hours.</p></Secret>}
      <CountTiles of={of.counts} />
      <Panel id="facts" title="The source">
        <dl className="facts">
          <div><dt>Profile</dt><dd><a href={to('sourceProfile', {}, profileName)}>{profileName}</a></dd></div>
          <div><dt>Authenticates</dt><dd>{authentications[authentication]}{signatureHeader && <> <code>{signatureHeader}</code></>}</dd></div>
          <div><dt>Created</dt><dd>{moment(createdAt, timeZone)}</dd></div>
          {previousSecretUntil && Date.parse(previousSecretUntil) > Date.now() && <div><dt>Secret before</dt><dd>accepted until {moment(previousSecretUntil, timeZone)}</dd></div>}
        </dl>
        {address && <HowItSends of={of} address={address} />}
      </Panel>
      {mayReject && <SourceRejects name={name} />}
      {open === 'edit' && <EditDialog of={of} close={close} />}
      {open === 'rotate' && <RotateDialog name={name} close={close} done={(next) => { close(); setSecret(next); }} />}
      {open === 'delete' && <DeleteDialog name={name} close={close} />}
    </>
  );
}

function HowItSends({ of, address }: { of: Source; address: Address }) {
  const { data } = useAsk(formatQuery, { name: of.profileName });
  const format = data?.sourceProfile?.format ?? 'JSON';
  return (
    <>
      <details className="by-source"><summary>Address, and a test</summary><div className="stacked"><HowToPost address={address} source={of} format={format} secret={hiddenSecret} /></div></details>
      <details className="by-source"><summary>Send files</summary><div className="stacked"><HowToFile address={address} source={of} format={format} /></div></details>
    </>
  );
}

function EditDialog({ of, close }: { of: Source; close: () => void }) {
  const { data } = useAsk(profilesQuery);
  const [profileName, setProfileName] = useState(of.profileName);
  const [authentication, setAuthentication] = useState(of.authentication);
  const [header, setHeader] = useState(of.signatureHeader ?? '');
  const made = useMadeFrom(of, async () => (await readNow(now, { name: of.name })).source, {
    profileName: setProfileName, authentication: setAuthentication, signatureHeader: (theirs) => setHeader(theirs ?? ''),
  });
  const save = useDo(async () => {
    await made.send((expectedVersion) => mutate(edit, { input: {
      sourceName: of.name, expectedVersion, ...(profileName !== of.profileName && { profileName }), ...(authentication !== of.authentication && { authentication }),
      ...(authentication === 'SIGNATURE' && header.trim() !== '' && header.trim() !== of.signatureHeader && { signatureHeader: header.trim() }),
    } }));
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title={`Edit ${of.name}`} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Profile
          <select autoFocus aria-label="Profile" value={profileName} onChange={(event) => setProfileName(event.target.value)}>
            {(data?.sourceProfiles ?? [{ name: of.profileName }]).map(({ name }) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <AuthenticationFields authentication={authentication} setAuthentication={setAuthentication} header={header} setHeader={setHeader} />
        <p className="hint">What arrives from now on is read by it. The secret stays.</p>
        <EditFailure save={save} of={made} subject={['Source', of.name]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy}>Save</button>
        </p>
      </form>
    </Dialog>
  );
}

function RotateDialog({ name, close, done }: { name: string; close: () => void; done: (secret: string) => void }) {
  const run = useDo(async () => {
    const { rotateSourceSecret } = await mutate(rotate, { input: { sourceName: name } });
    if (rotateSourceSecret) done(rotateSourceSecret.secret);
  });
  return (
    <Dialog title="Make a new secret?" cancel={close}>
      <p>It is shown once. For 24 hours the present one is accepted, too. One that was replaced before ends now.</p>
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Keep the present one</button>
        <button type="button" className="primary" disabled={run.busy} onClick={() => void run.run()}>Make a new secret</button>
      </p>
    </Dialog>
  );
}

function DeleteDialog({ name, close }: { name: string; close: () => void }) {
  const run = useDo(async () => {
    await mutate(remove, { input: { sourceName: name } });
    go(to('sources'));
  });
  return (
    <Dialog title={`Delete ${name}?`} cancel={close}>
      <p>Its address answers 401 from then on, and its rejects are deleted. The usage that it reported stays.</p>
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Keep it</button>
        <button type="button" className="danger" disabled={run.busy} onClick={() => void run.run()}>Delete the source</button>
      </p>
    </Dialog>
  );
}
