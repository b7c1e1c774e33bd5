import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { changed, to, toSubscriber } from '../shell/route';
import { Export } from '../ui/Export';
import { type Column, Table } from '../ui/Table';
import { wordsOf } from './words';

const query = graphql(`
  query OperationResults($id: String!, $filter: OperationResultFilter, $first: Int, $after: String, $count: Boolean!) {
    operation(by: {operationId: $id}) {
      results(first: $first, after: $after, filter: $filter) {
        nodes { position line physicalId subscriber { physicalId } outcome message changes { field before after } }
        totalCount @include(if: $count)
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`);

type Row = NonNullable<NonNullable<ResultOf<typeof query>['operation']>['results']>['nodes'][number];
type Outcome = Row['outcome'];

const outcomes: Record<Outcome, string> = { FAILED: 'Failed', CREATED: 'Created', CHANGED: 'Changed', UNCHANGED: 'As wanted already', REMOVED: 'Removed', SKIPPED: 'Skipped', PENDING: 'Not decided' };
const tried: Partial<Record<Outcome, string>> = { CREATED: 'would be created', CHANGED: 'would change' };

interface Props {
  id: string;
  params: URLSearchParams;
  isDryRun: boolean;
}

/** What became of each subscriber; the outcome that is chosen is in the address. */
export function Results({ id, params, isDryRun }: Props) {
  const outcome = (Object.keys(outcomes) as Outcome[]).find((one) => one === params.get('outcome'));
  const variables = { id, filter: outcome && { outcome: { eq: outcome } } };
  const list = useList(query, variables, ({ operation }) => operation?.results);
  const columns: Column<Row>[] = [
    { key: 'row', name: 'Line', width: 80, kind: 'number', cell: ({ line, position }) => count(line ?? position) },
    { key: 'subscriber', name: 'Subscriber', width: 220, kind: 'mono', cell: ({ physicalId, subscriber }) => (subscriber ? <a href={toSubscriber(physicalId)}>{physicalId}</a> : physicalId || '–') },
    { key: 'outcome', name: 'Outcome', width: 150, cell: ({ outcome }) => (isDryRun && tried[outcome]) || outcomes[outcome].toLowerCase() },
    { key: 'detail', name: 'What', width: 520, cell: ({ message, changes }) => <span title={message ?? wordsOf(changes)}>{message ?? wordsOf(changes)}</span> },
  ];
  const choices: [string, string | null][] = [['All', null], ...Object.entries(outcomes).map(([key, name]): [string, string] => [name, key])];
  return (
    <Panel id="results" title={list.total === undefined ? 'Results' : `${count(list.total)} result${list.total === 1 ? '' : 's'}`}
      aside={<Export name="Results" query={query} variables={variables} of={({ operation }) => operation?.results} columns={file} />}>
      <nav className="switch" aria-label="Outcome">
        {choices.map(([name, key]) => <a key={name} href={to('operation', changed(params, { outcome: key }), id)} aria-current={(key ?? undefined) === outcome ? 'true' : undefined}>{name}</a>)}
      </nav>
      <Table label="Results" list={list} columns={columns} keyOf={({ position }) => String(position)} none={<Empty>{outcome ? 'None has this outcome.' : 'There are no results.'}</Empty>} />
    </Panel>
  );
}

const file = [
  ...(['position', 'line', 'physicalId', 'outcome', 'message'] as const).map((name) => ({ name, text: (row: Row) => row[name] })),
  { name: 'changes', text: ({ changes }: Row) => changes.map(({ field, before, after }) => `${field}: ${before ?? ''} -> ${after ?? ''}`).join('; ') },
];
