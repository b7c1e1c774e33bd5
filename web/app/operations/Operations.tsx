import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { useLive, useSoon } from '../graph/live';
import { Empty, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { type Column, Table } from '../ui/Table';
import { countsOf, State } from './words';
import '../styles/lists.css';

const query = graphql(`
  query OperationTable($first: Int, $after: String, $count: Boolean!) {
    operations(first: $first, after: $after) {
      nodes { operationId state isDryRun undoOf startedBy description reason total done created changed removed failed skipped startedAt }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const live = graphql('subscription OperationsOnPage { operationChanged { operationId } }');

type Row = NonNullable<ResultOf<typeof query>['operations']>['nodes'][number];

/** The operations that run and those of the last 30 days, the newest first. */
export default function Operations() {
  const may = useMay('VIEW_SUBSCRIBER');
  const list = useList(may ? query : null, {}, ({ operations }) => operations);
  const soon = useSoon(list.reload, 1_000);
  useLive(may ? live : null, { next: soon, connected: soon });
  const columns: Column<Row>[] = [
    { key: 'what', name: 'What', width: 330, cell: (row) => <><a href={to('operation', {}, row.operationId)}>{titleOf(row)}</a>{row.reason && <span className="hint">{row.reason}</span>}</> },
    { key: 'state', name: 'State', width: 120, cell: ({ state }) => <State of={state} /> },
    { key: 'done', name: 'Decided', width: 130, kind: 'number', cell: ({ done, total }) => `${count(done)} of ${count(total)}` },
    { key: 'counts', phone: 'left', name: 'Outcome', width: 300, cell: countsOf },
    { key: 'by', name: 'Who', width: 210, cell: ({ startedBy }) => startedBy },
    { key: 'at', phone: 'right', name: 'Started', width: 130, cell: ({ startedAt }) => <Ago at={startedAt} /> },
  ];
  return (
    <div className="page wide">
      <div className="heading">
        <div><h1>Operations</h1><p className="hint">Changes of many subscribers. They are kept for 30 days, and can be undone for seven.</p></div>
        {may && <a className="button primary" href={to('newOperation')}>Change by a file</a>}
      </div>
      {!may ? <Empty>You need the permission View Subscriber to see operations.</Empty> : (
        <Panel id="list" title={list.total === undefined ? 'Operations' : `${count(list.total)} operation${list.total === 1 ? '' : 's'}`}>
          <Table label="Operations" list={list} columns={columns} keyOf={({ operationId }) => operationId}
            none={<Empty>Nothing has been changed in bulk in the last 30 days. Choose <a href={to('subscribers')}>subscribers</a>, or <a href={to('newOperation')}>change them by a file</a>.</Empty>} />
        </Panel>
      )}
    </div>
  );
}

export const titleOf = ({ description, isDryRun, undoOf }: Pick<Row, 'description' | 'isDryRun' | 'undoOf'>) =>
  undoOf !== null ? 'Undo' : `${isDryRun ? 'Dry run: ' : ''}${description}`;
