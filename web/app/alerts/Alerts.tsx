import { bytes, count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { changed, to } from '../shell/route';
import { useUndo } from '../shell/undo';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Export } from '../ui/Export';
import { type Column, Table } from '../ui/Table';
import { Frame } from './Frame';
import { alertKey, rules } from './words';

const query = graphql(`
  query AlertTable($first: Int, $after: String, $count: Boolean!, $filter: AlertFilter, $orderBy: [AlertOrder!], $names: Boolean!) {
    alerts(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
      nodes {
        alertId ruleType target lowerThreshold upperThreshold createdAt status numberExceeded
        subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
        subjects(limit: 1) { usage upper { percent } }
      }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

type Row = NonNullable<ResultOf<typeof query>['alerts']>['nodes'][number];
type Variables = Parameters<typeof useList<typeof query, Row>>[1];

/** Every alert of the company, and where it stands in this billing period. */
export default function Alerts({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const names = useMay('VIEW_SUBSCRIBER');
  const { hidden } = useUndo();
  const rule = params.get('rule') ?? '';
  const [field = 'ID', direction = 'DESC'] = params.get('order')?.split('.') ?? [];
  const filter = rule in rules ? { ruleType: { eq: rule } } : undefined;
  const variables = { filter, orderBy: [{ field, direction }], names } as Variables;
  const list = useList(may ? query : null, variables, ({ alerts }) => alerts);
  useSystem();
  if (!may) return <Frame current="alerts"><Empty>You need the permissions View Monitoring Alerts and View a User&apos;s Details to see alerts. The log needs only the first.</Empty></Frame>;
  const order = (of: string) => ({
    href: to('alerts', changed(params, { order: `${of}.${field === of && direction === 'DESC' ? 'ASC' : 'DESC'}` })),
    now: field !== of ? undefined : direction === 'DESC' ? ('descending' as const) : ('ascending' as const),
  });
  const columns: Column<Row>[] = [
    { key: 'watches', name: 'Watches', width: 230, cell: (row) => <a href={to('alert', {}, String(row.alertId))}>{nameOf(row)}</a> },
    { key: 'rule', name: 'Rule', width: 210, order: order('RULE_TYPE'), cell: ({ ruleType }) => rules[ruleType] },
    { key: 'status', name: 'This period', width: 150, cell: (row) => <Status of={row} /> },
    { key: 'nearest', name: 'Most usage', width: 210, cell: (row) => <Nearest of={row} /> },
    { key: 'lower', name: 'Lower', width: 100, kind: 'number', order: order('LOWER_THRESHOLD'), cell: ({ lowerThreshold }) => bytes(lowerThreshold) },
    { key: 'upper', name: 'Upper', width: 100, kind: 'number', order: order('UPPER_THRESHOLD'), cell: ({ upperThreshold }) => bytes(upperThreshold) },
    { key: 'created', name: 'Made', width: 130, order: order('CREATED_AT'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
  return (
    <Frame current="alerts">
      <nav className="switch" aria-label="Rule">
        {[['', 'All'], ...Object.entries(rules)].map(([key, name]) => (
          <a key={key} href={to('alerts', changed(params, { rule: key! }))} aria-current={key === rule ? 'true' : undefined}>{name}</a>
        ))}
      </nav>
      <Panel id="list" title={list.total === undefined ? 'Alerts' : `${count(list.total)} alert${list.total === 1 ? '' : 's'}`} aside={<Export name="Alerts" query={query} variables={variables} of={({ alerts }) => alerts} columns={file} />}>
        <Table
          label="Alerts" columns={columns} keyOf={({ alertId }) => String(alertId)}
          list={{ ...list, rows: list.rows.filter(({ alertId }) => !hidden.has(alertKey(alertId))) }}
          none={<Empty>{rule ? 'No alert has this rule.' : 'No alert is set.'} <a href={to('newAlert')}>Set one</a>, and see beforehand when it would have fired.</Empty>}
        />
      </Panel>
    </Frame>
  );
}

const nameOf = ({ ruleType, target, subscriber, group }: Row): string => subscriber?.nickname || subscriber?.physicalId || group?.name || (ruleType === 'COMPANY' ? 'The company' : target);

function Status({ of: { status, numberExceeded, alertId } }: { of: Row }) {
  if (status === 'EXCEEDED') return <a className="badge upper" href={to('alertLog', { alert: String(alertId) })}>fired{numberExceeded && numberExceeded > 1 ? ` for ${count(numberExceeded)}` : ''}</a>;
  return <span className="badge">{status === null ? 'unknown' : 'armed'}</span>;
}

/** How far the subject with the most usage is from the upper threshold. */
function Nearest({ of: { subjects } }: { of: Row }) {
  const [first] = subjects ?? [];
  if (!first) return <span className="hint">no usage</span>;
  const share = first.upper.percent ?? 0;
  return (
    <span className={`nearest${share >= 100 ? ' over' : ''}`}>
      <span className="bar-track" aria-hidden="true"><i style={{ width: `${Math.min(100, share)}%` }} /></span>
      {Math.floor(share)}{'\u00a0'}%
    </span>
  );
}

const file = [
  { name: 'alertId', text: (row: Row) => row.alertId },
  { name: 'ruleType', text: (row: Row) => row.ruleType },
  { name: 'target', text: (row: Row) => row.target },
  { name: 'watches', text: nameOf },
  { name: 'lowerThreshold', text: (row: Row) => Number(row.lowerThreshold) },
  { name: 'upperThreshold', text: (row: Row) => Number(row.upperThreshold) },
  { name: 'status', text: (row: Row) => row.status },
  { name: 'numberExceeded', text: (row: Row) => row.numberExceeded },
  { name: 'createdAt', text: (row: Row) => row.createdAt },
];
