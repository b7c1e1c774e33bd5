import { useState } from 'react';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Export } from '../ui/Export';
import { Popover } from '../ui/Popover';
import { type Column, Table } from '../ui/Table';
import { Frame, permissionName } from './Frame';
import { UserAccess } from './UserAccess';
import { UserForm } from './UserForm';

const query = graphql(`
  query UserTable($first: Int, $after: String, $count: Boolean!, $groups: Boolean!) {
    users(first: $first, after: $after) {
      nodes { email version permissions isDisabled lastSignedInAt invitation { expiresAt } groups(first: 100) @include(if: $groups) { nodes { groupId name } pageInfo { hasNextPage } } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

type Row = NonNullable<ResultOf<typeof query>['users']>['nodes'][number];

/** Who uses the company, with which permissions and groups. */
export default function Users() {
  const may = useMay('VIEW_A_USERS_DETAILS');
  const variables = { groups: useMay('VIEW_SUBSCRIBER') };
  const list = useList(may ? query : null, variables, ({ users }) => users);
  const [open, setOpen] = useState<'new' | Row | null>(null);
  const [access, setAccess] = useState<string | null>(null);
  const columns: Column<Row>[] = [
    { key: 'email', name: 'User', width: 260, cell: ({ email }) => <strong>{email}</strong> },
    { key: 'state', name: 'State', width: 150, cell: (row) => <State of={row} /> },
    { key: 'signed', name: 'Last signed in', width: 130, cell: ({ lastSignedInAt }) => <Ago at={lastSignedInAt} none="never" /> },
    { key: 'groups', name: 'Sees', width: 240, cell: ({ groups }) => (groups?.nodes.length ? <span className="cell-chips">{groups.nodes.map(({ groupId, name }) => <a key={groupId} className="badge" href={to('group', {}, String(groupId))}>{name}</a>)}{groups.pageInfo.hasNextPage && '…'}</span> : <span className="hint">{groups ? 'the whole company' : '–'}</span>) },
    { key: 'permissions', name: 'Permissions', width: 150, cell: ({ email, permissions }) => (
      <Popover button={`${permissions.length} permission${permissions.length === 1 ? '' : 's'}`} label={`Permissions of ${email}`} className="quiet">
        {() => permissions.length === 0 ? <p className="hint">None.</p> : <ul className="plain-list">{permissions.map((one) => <li key={one}>{permissionName(one)}</li>)}</ul>}
      </Popover>
    ) },
    { key: 'changes', name: 'Did', width: 130, cell: ({ email }) => <a href={to('audit', { actor: email })}>What it changed</a> },
    { key: 'access', name: 'Access', width: 90, cell: ({ email }) => <button type="button" className="quiet" aria-label={`Access of ${email}`} onClick={() => setAccess(email)}>Access</button> },
    { key: 'edit', name: 'Edit', width: 90, cell: (row) => <button type="button" className="quiet" aria-label={`Edit ${row.email}`} onClick={() => setOpen(row)}>Edit</button> },
  ];
  return (
    <Frame current="users">
      {!may ? <Empty>You need the permission View a User&apos;s Details to see users.</Empty> : (
        <Panel id="list" title={list.total === undefined ? 'Users' : `${count(list.total)} user${list.total === 1 ? '' : 's'}`} aside={<div className="row"><button type="button" className="primary" onClick={() => setOpen('new')}>New user</button><Export name="Users" query={query} variables={variables} of={({ users }) => users} columns={file} /></div>}>
          <Table label="Users" list={list} columns={columns} keyOf={({ email }) => email} none={<Empty>There are no users that you may see.</Empty>} />
        </Panel>
      )}
      {access !== null && <UserAccess email={access} close={() => setAccess(null)} />}
      {open !== null && <UserForm of={open === 'new' ? null : open} close={() => setOpen(null)} />}
    </Frame>
  );
}

function State({ of: { isDisabled, invitation } }: { of: Row }) {
  if (isDisabled) return <span className="badge upper">disabled</span>;
  if (invitation !== null) return <span className="badge">{Date.parse(invitation.expiresAt) > Date.now() ? 'invited' : 'invitation expired'}</span>;
  return <span className="badge good">active</span>;
}

const file = [
  { name: 'email', text: (row: Row) => row.email },
  { name: 'isDisabled', text: (row: Row) => String(row.isDisabled) },
  { name: 'lastSignedInAt', text: (row: Row) => row.lastSignedInAt },
  { name: 'permissions', text: (row: Row) => row.permissions.join(' ') },
  { name: 'groups', text: (row: Row) => row.groups?.nodes.map(({ name }) => name).concat(row.groups.pageInfo.hasNextPage ? '…' : []).join('; ') ?? null },
];
