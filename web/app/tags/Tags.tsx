import { bytes, count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { beginning, useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { to, toSubscribers } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Export } from '../ui/Export';
import { type Column, Table } from '../ui/Table';
import '../styles/lists.css';

const query = graphql(`
  query TagTable($first: Int, $after: String, $count: Boolean!, $usage: Boolean!) {
    tags(first: $first, after: $after) {
      nodes { name numberOfSubscribers usage @include(if: $usage) { totals { total } } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

/** A window draws some 30 rows. The usage of a tag is added up for all subscribers that carry it. */
const rowsAtOnce = 50;

type Row = NonNullable<ResultOf<typeof query>['tags']>['nodes'][number];

/** The tags, each leading to those who carry it. */
export default function Tags() {
  const may = useMay('VIEW_SUBSCRIBER');
  const variables = { usage: useMay('VIEW_STATISTICS_OVERVIEW') };
  const list = useList(may ? query : null, variables, ({ tags }) => tags, beginning, { length: rowsAtOnce });
  useSystem();
  const columns: Column<Row>[] = [
    { key: 'name', name: 'Tag', width: 300, cell: ({ name }) => <a href={to('tag', {}, name)}>{name}</a> },
    { key: 'subscribers', name: 'Subscribers', width: 120, kind: 'number', cell: ({ name, numberOfSubscribers: n }) => (n === null ? '–' : <a href={toSubscribers({ tag: name })}>{count(n)}</a>) },
    { key: 'usage', phone: 'right', name: 'This period', width: 140, kind: 'number', cell: ({ usage }) => (usage?.totals ? bytes(usage.totals.total) : '–') },
  ];
  return (
    <div className="page">
      <div className="heading"><h1>Tags</h1></div>
      {!may ? <Empty>You need the permission View Subscriber to see tags.</Empty> : (
        <Panel id="list" title={list.total === undefined ? 'Tags' : `${count(list.total)} tag${list.total === 1 ? '' : 's'}`} aside={<Export name="Tags" query={query} variables={variables} of={({ tags }) => tags} columns={file} />}>
          <Table label="Tags" list={list} columns={columns} keyOf={({ name }) => name} none={<Empty>No subscriber carries a tag. Choose some in the <a href={toSubscribers()}>list of subscribers</a> and put one on.</Empty>} />
        </Panel>
      )}
    </div>
  );
}

const file = [
  { name: 'name', text: (row: Row) => row.name },
  { name: 'numberOfSubscribers', text: (row: Row) => row.numberOfSubscribers },
  { name: 'usage', text: (row: Row) => (row.usage?.totals ? Number(row.usage.totals.total) : null) },
];
