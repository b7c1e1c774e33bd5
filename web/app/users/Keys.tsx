import { type FormEvent, useState } from 'react';
import { count } from '../format/units';
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure, Panel } from '../shell/parts';
import { useMay, useViewer } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Popover } from '../ui/Popover';
import { Secret } from '../ui/Secret';
import { type Column, Table } from '../ui/Table';
import { Frame, permissionName } from './Frame';

const query = graphql(`
  query KeyTable($first: Int, $after: String, $count: Boolean!) {
    accessKeys(first: $first, after: $after) {
      nodes { accessKeyId userEmail scopes createdAt expiresAt revokedAt lastUsedAt }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const create = graphql('mutation CreateKey($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }');
const revoke = graphql('mutation RevokeKey($input: RevokeAccessKeyInput!) { revokeAccessKey(input: $input) { accessKey { accessKeyId } } }');
const users = graphql('query UsersForKeys { users(first: 100) { nodes { email permissions disabled } } }');

type Row = NonNullable<ResultOf<typeof query>['accessKeys']>['nodes'][number];
type Scopes = NonNullable<VariablesOf<typeof create>['input']['scopes']>;

/** The access keys of the company: made here, their secrets shown once, and revoked. */
export default function Keys() {
  const may = useMay('MANAGE_ACCESS_KEYS');
  const list = useList(may ? query : null, {}, ({ accessKeys }) => accessKeys);
  const [open, setOpen] = useState<'new' | Row | null>(null);
  const [made, setMade] = useState<{ accessKeyId: string; secret: string } | null>(null);
  const columns: Column<Row>[] = [
    { key: 'key', name: 'Key', width: 250, kind: 'mono', cell: ({ accessKeyId }) => accessKeyId },
    { key: 'user', name: 'User', width: 230, cell: ({ userEmail }) => userEmail },
    { key: 'state', name: 'State', width: 110, cell: (row) => <State of={row} /> },
    { key: 'scopes', name: 'Passes on', width: 150, cell: ({ accessKeyId, scopes }) => (
      <Popover button={`${scopes.length} permission${scopes.length === 1 ? '' : 's'}`} label={`Permissions of ${accessKeyId}`} className="quiet">
        {() => <ul className="plain-list">{scopes.map((one) => <li key={one}>{permissionName(one)}</li>)}</ul>}
      </Popover>
    ) },
    { key: 'used', name: 'Last used', width: 120, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} none="never" /> },
    { key: 'ends', name: 'Ends', width: 120, cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
    { key: 'revoke', name: 'Revoke', width: 110, cell: (row) => row.revokedAt === null && <button type="button" className="quiet" aria-label={`Revoke ${row.accessKeyId}`} onClick={() => setOpen(row)}>Revoke</button> },
  ];
  if (!may) return <Frame current="keys"><Empty>You need the permission Manage Access Keys to see keys.</Empty></Frame>;
  return (
    <Frame current="keys">
      {made && <Secret title="The new key" facts={{ Key: made.accessKeyId, Secret: made.secret }} copies="Copy both" close={() => setMade(null)} />}
      <Panel id="list" title={list.total === undefined ? 'Access keys' : `${count(list.total)} access key${list.total === 1 ? '' : 's'}`} aside={<button type="button" className="primary" onClick={() => setOpen('new')}>New key</button>}>
        <Table label="Access keys" list={list} columns={columns} keyOf={({ accessKeyId }) => accessKeyId} none={<Empty>There are no access keys. A program needs one: make the first by New key.</Empty>} />
      </Panel>
      {open === 'new' && <NewKey close={() => setOpen(null)} done={(key) => { setOpen(null); setMade(key); }} />}
      {open !== null && open !== 'new' && <Revoke of={open} close={() => setOpen(null)} />}
    </Frame>
  );
}

function State({ of: { revokedAt, expiresAt } }: { of: Row }) {
  if (revokedAt !== null) return <span className="badge upper">revoked</span>;
  return Date.parse(expiresAt) < Date.now() ? <span className="badge">expired</span> : <span className="badge good">active</span>;
}

function NewKey({ close, done }: { close: () => void; done: (key: { accessKeyId: string; secret: string }) => void }) {
  const { email, permissions } = useViewer();
  const maySee = useMay('VIEW_A_USERS_DETAILS');
  const { data } = useAsk(maySee ? users : null);
  const [user, setUser] = useState(email);
  const [days, setDays] = useState('365');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const known = data?.users?.nodes.find((one) => one.email === user);
  const possible = (known?.permissions ?? permissions).filter((one) => permissions.includes(one));
  const scopes = possible.filter((one) => !left.has(one)) as Scopes;
  const save = useDo(async () => {
    const { createAccessKey } = await mutate(create, { input: { userEmail: user, scopes, lifetimeDays: Number(days) } });
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
    <Dialog title="New access key" cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>User
          <select autoFocus value={user} onChange={(event) => { setUser(event.target.value); setLeft(new Set()); }}>
            {(data?.users?.nodes ?? [{ email, disabled: false }]).filter(({ disabled }) => !disabled).map(({ email }) => <option key={email} value={email}>{email}</option>)}
          </select>
        </label>
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
    </Dialog>
  );
}

function Revoke({ of: { accessKeyId, userEmail }, close }: { of: Row; close: () => void }) {
  const run = useDo(async () => {
    await mutate(revoke, { input: { accessKeyId } });
    close();
  });
  return (
    <Dialog title="Revoke this key?" cancel={close}>
      <p>Programs that use <code>{accessKeyId}</code> for {userEmail} are refused within seconds, and their tokens end. It cannot be undone.</p>
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Keep it</button>
        <button type="button" className="danger" disabled={run.busy} onClick={() => void run.run()}>Revoke the key</button>
      </p>
    </Dialog>
  );
}
