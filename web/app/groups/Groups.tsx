import { useState } from 'react';
import { count, bytes, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { to, toSubscribers } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { Export } from '../ui/Export';
import { type Column, Table } from '../ui/Table';
import { GroupForm } from './GroupForm';
import '../styles/lists.css';

const query = graphql(`
  query GroupTable($first: Int, $after: String, $count: Boolean!, $usage: Boolean!) {
    groups(first: $first, after: $after) {
      nodes { groupId name isTariffHidden numberOfSubscribers numberOfUsers usage @include(if: $usage) { totals { total } } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

type Row = NonNullable<ResultOf<typeof query>['groups']>['nodes'][number];
const usageOf = ({ usage }: Row) => usage?.totals?.total ?? null;

/** The groups, each leading to its members and its usage. */
export default function Groups() {
  const may = useMay('VIEW_SUBSCRIBER');
  const variables = { usage: useMay('VIEW_STATISTICS_OVERVIEW') };
  const list = useList(may ? query : null, variables, ({ groups }) => groups);
  const { isRestricted } = useViewer();
  const mayAdd = useMay('MANAGE_INVENTORY') && !isRestricted;
  const [adding, setAdding] = useState(false);
  useSystem();
  const columns: Column<Row>[] = [
    { key: 'name', name: 'Group', width: 280, cell: ({ groupId, name }) => <a href={to('group', {}, String(groupId))}>{name}</a> },
    { key: 'subscribers', name: 'Subscribers', width: 120, kind: 'number', cell: ({ groupId, numberOfSubscribers: n }) => (n === null ? '–' : <a href={toSubscribers({ group: String(groupId) })}>{count(n)}</a>) },
    { key: 'usage', phone: 'right', name: 'This period', width: 130, kind: 'number', cell: (row) => (usageOf(row) === null ? '–' : bytes(usageOf(row)!)) },
    { key: 'users', name: 'Users', width: 100, kind: 'number', cell: ({ numberOfUsers }) => (numberOfUsers === null ? '–' : count(numberOfUsers)) },
    { key: 'tariffs', name: 'Tariffs', width: 180, cell: ({ isTariffHidden }) => (isTariffHidden ? <span className="badge">hidden from its users</span> : <span className="hint">shown</span>) },
  ];
  return (
    <div className="page">
      <div className="heading"><h1>Groups</h1></div>
      {!may ? <Empty>You need the permission View Subscriber to see groups.</Empty> : (
        <Panel id="list" title={list.total === undefined ? 'Groups' : `${count(list.total)} group${list.total === 1 ? '' : 's'}`} aside={<div className="row">{mayAdd && <button type="button" className="primary" onClick={() => setAdding(true)}>New group</button>}<Export name="Groups" query={query} variables={variables} of={({ groups }) => groups} columns={file} /></div>}>
          <Table label="Groups" list={list} columns={columns} keyOf={({ groupId }) => String(groupId)} none={<Empty>There are no groups. {mayAdd ? 'Make the first by New group, or import' : 'They come with an import:'} <code>{'{"type":"group",…}'}</code> in a bundle.</Empty>} />
        </Panel>
      )}
      {adding && <GroupForm of={null} close={() => setAdding(false)} />}
    </div>
  );
}

const file = [
  { name: 'groupId', text: (row: Row) => row.groupId },
  { name: 'name', text: (row: Row) => row.name },
  { name: 'numberOfSubscribers', text: (row: Row) => row.numberOfSubscribers },
  { name: 'numberOfUsers', text: (row: Row) => row.numberOfUsers },
  { name: 'usage', text: (row: Row) => (usageOf(row) === null ? null : Number(usageOf(row))) },
  { name: 'isTariffHidden', text: (row: Row) => String(row.isTariffHidden) },
];
