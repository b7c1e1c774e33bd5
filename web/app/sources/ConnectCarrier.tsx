import { type FormEvent, useState } from 'react';
import { graphql, type ResultOf } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Failure, Loading, Panel } from '../shell/parts';
import { useUnsaved } from '../shell/unsaved';
import { Copy } from '../ui/Copy';
import { useAddress } from './address';
import { hiddenSecret } from './commands';
import { HowToFile, HowToPost } from './HowToSend';
import { PreviewTable, Sample, usePreview } from './Preview';
import { ProfileForm } from './ProfileForm';
import { type Draft, draftOf, emptyDraft, guess, inputOf, profilesQuery, readsAs, saveProfile } from './profile';
import { WatchSource } from './Watch';
import { type Authentication, authentications, usualHeader } from './words';

const create = graphql('mutation CreateSource($input: CreateSourceInput!) { createSource(input: $input) { secret source { name path authentication signatureHeader } } }');
type Made = NonNullable<ResultOf<typeof create>['createSource']> & { format: Draft['format'] };

/** Stands for a profile that is written here. */
const own = '';

/** Connects what sends in its own form: a sample shows how it is read before anything is made. */
export function ConnectCarrier({ by }: { by: 'webhook' | 'files' }) {
  const [made, setMade] = useState<Made | null>(null);
  if (made) return <Connected by={by} made={made} forget={() => setMade({ ...made, secret: '' })} />;
  return <Forms by={by} done={setMade} />;
}

function Forms({ by, done }: { by: 'webhook' | 'files'; done: (made: Made) => void }) {
  const { data, problem: unread, reload } = useAsk(profilesQuery);
  const profiles = data?.sourceProfiles ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const [isTouched, setTouched] = useState(false);
  const [sample, setSample] = useState('');
  const [typedName, setTypedName] = useState<string | null>(null);
  const [authentication, setAuthentication] = useState<Authentication>('BASIC');
  const [header, setHeader] = useState('');
  const base = profiles.find(({ name }) => name === chosen);
  const name = typedName ?? chosen ?? '';
  const format = draft?.format ?? base?.format ?? 'JSON';
  useUnsaved(sample !== '' || isTouched || typedName !== null);
  const preview = usePreview(draft ? { profile: { ...inputOf(draft), name: draft.name.trim() || 'sample' } } : base ? { name: base.name } : null, sample, format);
  const choose = (next: string) => {
    setChosen(next);
    setTouched(false);
    setDraft(next === own ? { ...emptyDraft, ...(sample !== '' && guess(sample)) } : null);
  };
  const change = (sample: string) => {
    setSample(sample);
    if (chosen === own && !isTouched) setDraft({ ...emptyDraft, ...(sample !== '' && guess(sample)) });
  };
  const isChanged = draft !== null && !(base && readsAs(draft, draftOf(base)) && draft.name === base.name);
  const isTaken = isChanged && profiles.some((one) => one.name === draft.name.trim());
  const missing = chosen === null ? 'Choose how it sends.' : draft?.name.trim() === '' ? 'Write a name for the profile.' : draft && inputOf(draft).fields.length === 0 ? 'Say where the fields are: paste a sample, or add them.' : name.trim() === '' ? 'Write a name.' : null;
  const save = useDo(async () => {
    if (isChanged) await mutate(saveProfile, { input: { profile: inputOf(draft) } });
    const { createSource } = await mutate(create, { input: { name: name.trim(), profileName: draft?.name.trim() ?? base!.name, authentication, ...(authentication === 'SIGNATURE' && header.trim() && { signatureHeader: header.trim() }) } });
    if (createSource) done({ ...createSource, format });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null) void save.run();
  };
  return (
    <form className="steps-form" onSubmit={submit}>
      <Panel id="profile" title="1. How it sends">
        {unread && <Failure problem={unread} retry={reload} />}
        {!data && !unread && <Loading label="Reading profiles" />}
        <div className="side-by-side">
          <div className="stacked">
            <label>Profile
              <select aria-label="Profile" value={chosen === null ? 'none' : `of ${chosen}`} onChange={(event) => choose(event.target.value.replace(/^of /, ''))}>
                {chosen === null && <option value="none" disabled>Choose one</option>}
                <option value="of ">Write one for my sample</option>
                <Profiles label="Ready" all={profiles.filter(({ isReady }) => isReady)} />
                <Profiles label="Of the company" all={profiles.filter(({ isReady }) => !isReady)} />
              </select>
            </label>
            {base && <p className="hint">{base.description}</p>}
            {base && !draft && <p><button type="button" className="quiet" onClick={() => setDraft({ ...draftOf(base), name: `${base.name}-own` })}>Change how it is read</button></p>}
            {base && draft && <p><button type="button" className="quiet" onClick={() => { setDraft(null); setTouched(false); }}>Leave it as it was</button></p>}
          </div>
          <Sample sample={sample} change={change} />
        </div>
        {draft && <ProfileForm draft={draft} change={(next) => { setTouched(true); setDraft(next); }} problem={preview.problem} />}
        {isTaken && <p className="notice" role="status">There is a profile of this name. Sources that have it will read by this one, too: write another name to leave them as they are.</p>}
        {preview.problem && sample !== '' && <Failure problem={preview.problem} />}
        {preview.all && !preview.problem && sample !== '' && <PreviewTable all={preview.all} />}
      </Panel>
      <Panel id="source" title="2. The source">
        <div className="choices roomy">
          <label>Name<input maxLength={128} value={name} onChange={(event) => setTypedName(event.target.value)} /></label>
          {by === 'webhook' && <AuthenticationFields authentication={authentication} setAuthentication={setAuthentication} header={header} setHeader={setHeader} />}
        </div>
        <p className="hint">The name is the source of its usage in charts and lists.</p>
        {missing && <p className="hint" role="status">{missing}</p>}
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions"><button type="submit" className="primary" disabled={save.busy || missing !== null}>Create the source</button></p>
      </Panel>
    </form>
  );
}

const Profiles = ({ label, all }: { label: string; all: { name: string; description: string | null }[] }) =>
  all.length === 0 ? null : <optgroup label={label}>{all.map(({ name }) => <option key={name} value={`of ${name}`}>{name}</option>)}</optgroup>;

interface AuthenticationProps {
  authentication: Authentication;
  setAuthentication: (authentication: Authentication) => void;
  header: string;
  setHeader: (header: string) => void;
}

export const AuthenticationFields = ({ authentication, setAuthentication, header, setHeader }: AuthenticationProps) => (
  <>
    <label>It authenticates by
      <select aria-label="It authenticates by" value={authentication} onChange={(event) => setAuthentication(event.target.value as Authentication)}>
        {Object.entries(authentications).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
      </select>
    </label>
    {authentication === 'SIGNATURE' && <label>Header of the signature<input placeholder={usualHeader} value={header} onChange={(event) => setHeader(event.target.value)} /></label>}
  </>
);

/** What to enter at the sender, its secret as long as it is wanted, and what arrives. */
function Connected({ by, made: { source, secret, format }, forget }: { by: 'webhook' | 'files'; made: Made; forget: () => void }) {
  const address = useAddress();
  return (
    <>
      <Panel id="enter" title={by === 'webhook' ? '3. Enter at the carrier' : '3. Send the files'} aside={by === 'webhook' && secret !== '' && <button type="button" className="quiet" onClick={forget}>Hide the secret</button>}>
        {by === 'webhook' && secret !== '' && (
          <>
            <p className="notice" role="status">Keep the secret now: it cannot be shown again.</p>
            <Copy label="Secret" text={secret} />
          </>
        )}
        {!address ? <Loading label="Reading the address" /> : by === 'webhook' ? <HowToPost address={address} source={source} format={format} secret={secret || hiddenSecret} /> : <HowToFile address={address} source={source} format={format} />}
      </Panel>
      <WatchSource name={source.name} />
    </>
  );
}
