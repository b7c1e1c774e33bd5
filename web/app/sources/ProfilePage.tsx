import { type FormEvent, useState } from 'react';
import { moment } from '../format/time';
import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Answered, Empty, Failure, Loading, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useUnsaved } from '../shell/unsaved';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { useMayConnect } from './Frame';
import { PreviewTable, Sample, usePreview } from './Preview';
import { ProfileForm } from './ProfileForm';
import { type Draft, draftOf, emptyDraft, guess, inputOf, type Profile, profilesQuery, readsAs, saveProfile } from './profile';
import '../styles/lists.css';
import '../styles/sources.css';

const versionsQuery = graphql(`
  query SourceProfileVersions($name: String!) {
    sourceProfileVersions(profileName: $name) { name description format records delimiter fields { field expression } skip counters unit direction timeZone dateFormats isReady version changedAt }
  }
`);
const usersQuery = graphql('query SourcesOfProfile($name: String!) { sources(first: 100, filter: {profileName: {eq: $name}}) { nodes { name } totalCount } }');
const remove = graphql('mutation DeleteSourceProfile($input: DeleteSourceProfileInput!) { deleteSourceProfile(input: $input) { profileName } }');

/** A profile: how it reads records, tried on a sample, and its versions. Without a name it is a new one. */
export default function ProfilePage({ id: name }: { id: string }) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW') && !isRestricted;
  const mayConnect = useMayConnect();
  const { data, problem, reload } = useAsk(may ? profilesQuery : null);
  const found = data?.sourceProfiles?.find((one) => one.name === name);
  return (
    <div className="page wide connecting">
      <p className="crumbs"><a href={to('sources')}>Sources</a> / <a href={to('sourceProfiles')}>Profiles</a></p>
      {!may && <Empty>Only users of the whole company with the permission View Statistics Overview see profiles.</Empty>}
      {problem && <Failure problem={problem} retry={reload} />}
      {may && !data && !problem && <Loading label="Reading the profile" />}
      {data && name !== '' && !found && <Empty>There is no profile {name}. <a href={to('sourceProfiles')}>All profiles</a></Empty>}
      {data && name === '' && !mayConnect && <Empty>Only users of the whole company with the permission Record Usage write profiles.</Empty>}
      {data && (found || (name === '' && mayConnect)) && <Editor key={name} of={found ?? null} all={data.sourceProfiles ?? []} />}
    </div>
  );
}

function Editor({ of, all }: { of: Profile | null; all: Profile[] }) {
  const mayConnect = useMayConnect();
  const [typed, setTyped] = useState<Draft | null>(null);
  const [sample, setSample] = useState('');
  const [isDeleting, setDeleting] = useState(false);
  const before = of ? draftOf(of) : emptyDraft;
  const draft = typed ?? (of || sample === '' ? before : { ...emptyDraft, ...guess(sample) });
  const isChanged = !readsAs(draft, before) || draft.description !== before.description || draft.name !== before.name;
  useUnsaved(typed !== null && isChanged);
  const preview = usePreview(mayConnect ? { profile: { ...inputOf(draft), name: draft.name.trim() || 'sample' } } : null, sample, draft.format);
  const isTaken = of === null && all.some(({ name }) => name === draft.name.trim());
  const save = useDo(async () => {
    await mutate(saveProfile, { input: { profile: inputOf(draft) } });
    setTyped(null);
    if (of === null) go(to('sourceProfile', {}, draft.name.trim()));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  const tryIt = (
    <Panel id="try" title={of === null ? 'A sample' : 'Try it'}>
      <Sample sample={sample} change={setSample} />
      {preview.problem && sample !== '' && <Failure problem={preview.problem} />}
      {preview.all && !preview.problem && sample !== '' && <PreviewTable all={preview.all} />}
    </Panel>
  );
  return (
    <>
      <div className="heading">
        <div>
          <h1 className="named">{of?.name ?? 'New profile'} {of && <span className={of.isReady ? 'badge' : 'badge good'}>{of.isReady ? 'ready' : `version ${of.version}`}</span>}</h1>
          {of && <p className="hint">{of.description}</p>}
        </div>
        {mayConnect && of && !of.isReady && <button type="button" onClick={() => setDeleting(true)}>Delete</button>}
      </div>
      <form className="steps-form" onSubmit={submit}>
        {of === null && tryIt}
        <Panel id="reading" title="How records are read">
          <ProfileForm draft={draft} change={setTyped} problem={preview.problem} isNamed={of !== null} disabled={!mayConnect} />
          {of && <UsedBy name={of.name} isReady={of.isReady} mayChange={mayConnect} />}
          {isTaken && <p className="notice" role="status">There is a profile of this name: it gets a new version, which its sources read by.</p>}
          {save.problem && <Failure problem={save.problem} />}
          {mayConnect && (
            <p className="actions">
              <button type="submit" className="primary" disabled={save.busy || !isChanged || draft.name.trim() === '' || inputOf(draft).fields.length === 0}>Save as a new version</button>
              {typed !== null && of && isChanged && <button type="button" onClick={() => setTyped(null)}>Reset</button>}
            </p>
          )}
        </Panel>
        {of !== null && mayConnect && tryIt}
      </form>
      {of && !of.isReady && <Versions of={of} show={mayConnect ? (one) => setTyped({ ...draftOf(one), name: of.name }) : undefined} />}
      {isDeleting && of && <DeleteDialog name={of.name} close={() => setDeleting(false)} />}
    </>
  );
}

/** Which sources read by a profile. */
function UsedBy({ name, isReady, mayChange }: { name: string; isReady: boolean; mayChange: boolean }) {
  const { data } = useAsk(usersQuery, { name });
  const sources = data?.sources;
  if (!sources) return null;
  const [some, more] = [sources.nodes.slice(0, 10), (sources.totalCount ?? 0) - 10];
  return (
    <p className="hint">
      {some.length === 0 ? 'No source reads by it.' : <>Read by: {some.map(({ name }, i) => <span key={name}>{i > 0 && ', '}<a href={to('source', {}, name)}>{name}</a></span>)}{more > 0 && ` and ${count(more)} more`}.</>}
      {mayChange && some.length > 0 && ' What arrives after a change is read by the new version.'}
      {mayChange && isReady && ' A change of a ready profile is one of the company, which stands in its place.'}
    </p>
  );
}

function Versions({ of: { name, version: present }, show }: { of: Profile; show?: (version: Profile) => void }) {
  const timeZone = useZone();
  const asked = useAsk(versionsQuery, { name });
  return (
    <Panel id="versions" title="Versions">
      <Answered asked={asked} of={({ sourceProfileVersions }) => sourceProfileVersions} label="Reading versions">
        {(versions) => (
          <ul className="entries two" aria-label="Versions, the newest first">
            {versions.map((one) => (
              <li key={one.version}>
                <span className="entry-text"><strong>Version {one.version}</strong><span className="hint">{one.changedAt && moment(one.changedAt, timeZone)}{one.version === present && ', the present one'}</span></span>
                {show && one.version !== present && <button type="button" className="quiet" aria-label={`Take up version ${one.version}`} onClick={() => show(one)}>Take up again</button>}
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </Panel>
  );
}

function DeleteDialog({ name, close }: { name: string; close: () => void }) {
  const run = useDo(async () => {
    await mutate(remove, { input: { profileName: name } });
    go(to('sourceProfiles'));
  });
  return (
    <Dialog title={`Delete ${name}?`} cancel={close}>
      <p>Its versions are deleted, too. A ready profile of the same name stands in its place again.</p>
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Keep it</button>
        <button type="button" className="danger" disabled={run.busy} onClick={() => void run.run()}>Delete the profile</button>
      </p>
    </Dialog>
  );
}
