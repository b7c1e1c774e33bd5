import { type FormEvent, useState } from 'react';
import { atWallClock, moment, wallClock } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useAsk, useDo } from '../graph/use';
import { nouns } from '../picker/choices';
import { MomentField } from '../picker/Date';
import { Pick } from '../picker/Picker';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { Empty, Failure, Panel } from '../shell/parts';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Popover } from '../ui/Popover';
import { Secret } from '../ui/Secret';
import { Sheet } from '../ui/Sheet';
import { type Column, Table } from '../ui/Table';
import { Frame, permissionName } from './Frame';

const query = graphql(`
  query KeyTable($first: Int, $after: String, $count: Boolean!) {
    accessKeys(first: $first, after: $after) {
      nodes { accessKeyId version name purpose rotatedFrom userEmail scopes isDocumentsOnly createdAt expiresAt revokedAt lastUsedAt }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const create = graphql('mutation CreateKey($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }');
const rotate = graphql('mutation RotateKey($input: RotateAccessKeyInput!) { rotateAccessKey(input: $input) { secret accessKey { accessKeyId } old { accessKeyId expiresAt } } }');
const rename = graphql('mutation RenameKey($input: EditAccessKeyInput!) { editAccessKey(input: $input) { accessKey { accessKeyId } } }');
const now = graphql('query KeyNow($accessKeyId: String!) { accessKey(by: {accessKeyId: $accessKeyId}) { version name purpose isDocumentsOnly } }');
const revoke = graphql('mutation RevokeKey($input: RevokeAccessKeyInput!) { revokeAccessKey(input: $input) { accessKey { accessKeyId } } }');
const chosen = graphql('query UserOfKey($email: String!) { users(first: 1, filter: { email: { eq: $email } }) { nodes { permissions } } }');

type Row = NonNullable<ResultOf<typeof query>['accessKeys']>['nodes'][number];
type Scopes = Extract<VariablesOf<typeof create>['input']['scope'], { permissions: unknown }>['permissions'];

interface Made {
  accessKeyId: string;
  secret: string;
  /** The key that it takes over from. */
  old?: { accessKeyId: string; expiresAt: string };
}

/** What a key is called in sentences. */
const nameOf = ({ name, accessKeyId }: Row) => name || accessKeyId;

const isLive = ({ revokedAt, expiresAt }: Row) => revokedAt === null && Date.parse(expiresAt) > Date.now();

/** The access keys of the company: made here, their secrets shown once, named, rotated and revoked. */
export default function Keys() {
  const timeZone = useZone();
  const may = useMay('MANAGE_ACCESS_KEYS');
  const list = useList(may ? query : null, {}, ({ accessKeys }) => accessKeys);
  const [open, setOpen] = useState<{ what: 'new' } | { what: 'rename' | 'rotate' | 'revoke'; of: Row } | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const close = () => setOpen(null);
  const done = (key: Made) => {
    close();
    setMade(key);
  };
  const columns: Column<Row>[] = [
    { key: 'name', name: 'Name', width: 160, cell: (row) => <button type="button" className="bare link" title={row.purpose ?? undefined} aria-label={row.name ? `Rename ${row.name}` : `no name: rename ${row.accessKeyId}`} onClick={() => setOpen({ what: 'rename', of: row })}>{row.name || 'no name'}</button> },
    { key: 'purpose', name: 'Purpose', width: 170, cell: ({ purpose }) => <span title={purpose ?? undefined}>{purpose}</span> },
    { key: 'user', name: 'User', width: 170, cell: ({ userEmail }) => userEmail },
    { key: 'state', name: 'State', width: 90, cell: (row) => <State of={row} /> },
    { key: 'scopes', name: 'Passes on', width: 130, cell: ({ accessKeyId, scopes }) => (
      <Popover button={`${scopes.length} permission${scopes.length === 1 ? '' : 's'}`} label={`Permissions of ${accessKeyId}`} className="quiet">
        {() => <ul className="plain-list">{scopes.map((one) => <li key={one}>{permissionName(one)}</li>)}</ul>}
      </Popover>
    ) },
    { key: 'runs', name: 'Runs', width: 100, cell: ({ isDocumentsOnly }) => <span title={isDocumentsOnly ? 'Trusted documents alone, on the graph' : undefined}>{isDocumentsOnly ? 'documents' : 'all'}</span> },
    { key: 'used', name: 'Last used', width: 115, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} none="never" /> },
    { key: 'ends', name: 'Ends', width: 115, cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
    { key: 'rotate', name: 'Rotate', width: 75, cell: (row) => isLive(row) && <button type="button" className="bare link" aria-label={`Rotate ${nameOf(row)}`} onClick={() => setOpen({ what: 'rotate', of: row })}>Rotate</button> },
    { key: 'revoke', name: 'Revoke', width: 75, cell: (row) => row.revokedAt === null && <button type="button" className="bare link" aria-label={`Revoke ${nameOf(row)}`} onClick={() => setOpen({ what: 'revoke', of: row })}>Revoke</button> },
    { key: 'key', name: 'Key', width: 250, kind: 'mono', cell: ({ accessKeyId, rotatedFrom }) => <span title={rotatedFrom === null ? undefined : `took over from ${rotatedFrom}`}>{accessKeyId}</span> },
  ];
  if (!may) return <Frame current="keys"><Empty>You need the permission Manage Access Keys to see keys.</Empty></Frame>;
  return (
    <Frame current="keys">
      {made && (
        <Secret title="The new key" facts={{ Key: made.accessKeyId, Secret: made.secret }} copies="Copy both" close={() => setMade(null)}>
          {made.old && <p className="hint">The old key {made.old.accessKeyId} works until {moment(made.old.expiresAt, timeZone)} ({timeZone}). Its last use stands in the list.</p>}
        </Secret>
      )}
      <Panel id="list" title={list.total === undefined ? 'Access keys' : `${count(list.total)} access key${list.total === 1 ? '' : 's'}`} aside={<button type="button" className="primary" onClick={() => setOpen({ what: 'new' })}>New key</button>}>
        <Table label="Access keys" list={list} columns={columns} keyOf={({ accessKeyId }) => accessKeyId} none={<Empty>There are no access keys. A program needs one: make the first by New key.</Empty>} />
      </Panel>
      {open?.what === 'new' && <NewKey close={close} done={done} />}
      {open?.what === 'rename' && <Rename of={open.of} close={close} />}
      {open?.what === 'rotate' && <Rotate of={open.of} close={close} done={done} />}
      {open?.what === 'revoke' && <Revoke of={open.of} close={close} />}
    </Frame>
  );
}

function State({ of: { revokedAt, expiresAt } }: { of: Row }) {
  if (revokedAt !== null) return <span className="badge upper">revoked</span>;
  return Date.parse(expiresAt) < Date.now() ? <span className="badge">expired</span> : <span className="badge good">active</span>;
}

function NewKey({ close, done }: { close: () => void; done: (key: Made) => void }) {
  const { email, permissions } = useViewer();
  const maySee = useMay('VIEW_A_USERS_DETAILS');
  const [user, setUser] = useState(email);
  const { data } = useAsk(maySee && user !== '' ? chosen : null, { email: user });
  const [days, setDays] = useState('365');
  const [name, setName] = useState('');
  const [purpose, setPurpose] = useState('');
  const [limited, setLimited] = useState(false);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const ofUser = user === email ? permissions : (data?.users?.nodes[0]?.permissions ?? []);
  const possible = ofUser.filter((one) => permissions.includes(one));
  const scopes = possible.filter((one) => !left.has(one)) as Scopes;
  const save = useDo(async () => {
    const { createAccessKey } = await mutate(create, { input: { userEmail: user, scope: { permissions: scopes }, lifetimeDays: Number(days), name: name.trim(), purpose: purpose.trim(), isDocumentsOnly: limited } });
    if (createAccessKey) done({ accessKeyId: createAccessKey.accessKey.accessKeyId, secret: createAccessKey.secret });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  const turn = (permission: string, on: boolean) => {
    const next = new Set(left);
    if (on) next.delete(permission);
    else next.add(permission);
    setLeft(next);
  };
  return (
    <Sheet title="New access key" cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <Label name={name} purpose={purpose} limited={limited} setName={setName} setPurpose={setPurpose} setLimited={setLimited} />
        {maySee ? <Pick of={nouns.user} label="User" isRequired value={user} change={(next) => { setUser(next); setLeft(new Set()); }} /> : <p className="hint">It acts as {email}.</p>}
        <label>Days until it ends
          <input type="number" min={1} max={3650} required value={days} onChange={(event) => setDays(event.target.value)} />
        </label>
        <fieldset className="choices">
          <legend>Permissions that it passes on</legend>
          {possible.map((one) => <label key={one} className="inline"><input type="checkbox" checked={!left.has(one)} onChange={(event) => turn(one, event.target.checked)} />{permissionName(one)}</label>)}
        </fieldset>
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || scopes.length === 0}>Make the key</button>
        </p>
      </form>
    </Sheet>
  );
}

interface LabelProps {
  name: string;
  purpose: string;
  /** Whether the key runs trusted documents alone. */
  limited: boolean;
  setName: (name: string) => void;
  setPurpose: (purpose: string) => void;
  setLimited: (limited: boolean) => void;
}

const Label = ({ name, purpose, limited, setName, setPurpose, setLimited }: LabelProps) => (
  <>
    <label>Name<input autoFocus required maxLength={256} value={name} placeholder="Billing" onChange={(event) => setName(event.target.value)} /></label>
    <label>What uses it, and what for<input maxLength={256} value={purpose} placeholder="The nightly export of usage on reports-2" onChange={(event) => setPurpose(event.target.value)} /></label>
    <label className="inline"><input type="checkbox" checked={limited} onChange={(event) => setLimited(event.target.checked)} />Trusted documents only</label>
  </>
);

function Rename({ of, close }: { of: Row; close: () => void }) {
  const [name, setName] = useState(of.name ?? '');
  const [purpose, setPurpose] = useState(of.purpose ?? '');
  const [limited, setLimited] = useState(of.isDocumentsOnly);
  const made = useMadeFrom(of, async () => (await readNow(now, { accessKeyId: of.accessKeyId })).accessKey, {
    name: (theirs) => setName(theirs ?? ''), purpose: (theirs) => setPurpose(theirs ?? ''), isDocumentsOnly: setLimited,
  });
  const save = useDo(async () => {
    await made.send((expectedVersion) => mutate(rename, { input: { accessKeyId: of.accessKeyId, expectedVersion, name: name.trim(), purpose: purpose.trim(), isDocumentsOnly: limited } }));
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title={`Rename ${nameOf(of)}`} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <Label name={name} purpose={purpose} limited={limited} setName={setName} setPurpose={setPurpose} setLimited={setLimited} />
        <EditFailure save={save} of={made} subject={['AccessKey', of.accessKeyId]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || name.trim() === ''}>Save</button>
        </p>
      </form>
    </Dialog>
  );
}

/** For how long an old key goes on beside the new one. */
const overlaps = [[1, 'an hour'], [24, 'a day'], [7 * 24, 'a week'], [30 * 24, '30 days']] as const;
const hour = 3_600_000;

/** Makes a key that takes over from another, and chooses when that one ends. */
function Rotate({ of, close, done }: { of: Row; close: () => void; done: (key: Made) => void }) {
  const timeZone = useZone();
  const [ends, setEnds] = useState(() => wallClock(Date.now() + 7 * 24 * hour, timeZone));
  const [days, setDays] = useState('365');
  const end = atWallClock(ends, timeZone);
  const missing = Number.isNaN(end) ? 'Write when the old key ends.' : end <= Date.now() ? 'The old key must end in the future.' : null;
  const save = useDo(async () => {
    const { rotateAccessKey } = await mutate(rotate, { input: { accessKeyId: of.accessKeyId, oldEndsAt: new Date(end).toISOString(), lifetimeDays: Number(days) } });
    if (rotateAccessKey) done({ accessKeyId: rotateAccessKey.accessKey.accessKeyId, secret: rotateAccessKey.secret, old: rotateAccessKey.old });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null) void save.run();
  };
  return (
    <Dialog title={`Rotate ${nameOf(of)}`} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <p>A new key takes over, of the same user, name and permissions. The old one works beside it until it ends, so that programs can change in the meantime.</p>
        <div className="row" role="group" aria-label="How long the old key goes on">
          {overlaps.map(([hours, name]) => <button key={hours} type="button" className="quiet" onClick={() => setEnds(wallClock(Date.now() + hours * hour, timeZone))}>In {name}</button>)}
        </div>
        <MomentField label="The old key ends" autoFocus isRequired value={ends} change={setEnds} />
        <p className="hint">By the clocks of {timeZone}. {Date.parse(of.expiresAt) < end && <>It ends <Ago at={of.expiresAt} /> anyway.</>}</p>
        <label>Days until the new key ends
          <input type="number" min={1} max={3650} required value={days} onChange={(event) => setDays(event.target.value)} />
        </label>
        {missing && <p className="hint" role="status">{missing}</p>}
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || missing !== null}>Rotate the key</button>
        </p>
      </form>
    </Dialog>
  );
}

function Revoke({ of: { accessKeyId, name, userEmail, lastUsedAt }, close }: { of: Row; close: () => void }) {
  const run = useDo(async () => {
    await mutate(revoke, { input: { accessKeyId } });
    close();
  });
  return (
    <Dialog title="Revoke this key?" cancel={close}>
      <p>{name && <><strong>{name}</strong>, last used <Ago at={lastUsedAt} none="never" />. </>}Programs that use <code>{accessKeyId}</code> for {userEmail} are refused within seconds, and their tokens end. It cannot be undone.</p>
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Keep it</button>
        <button type="button" className="danger" disabled={run.busy} onClick={() => void run.run()}>Revoke the key</button>
      </p>
    </Dialog>
  );
}
