import { bytes, count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { changed, go, to } from '../shell/route';
import { useUndo } from '../shell/undo';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Export } from '../ui/Export';
import { type Column, Table } from '../ui/Table';
import { alertName, kinds, limitOf } from './conditions';
import { Frame } from './Frame';
import { alertKey, rules } from './words';

const query = graphql(`
  query AlertTable($first: Int, $after: String, $count: Boolean!, $filter: AlertFilter, $orderBy: [AlertOrder!], $names: Boolean!) {
    alerts(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
      nodes {
        ...AlertName alertId description createdAt status numberFired
        subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
        ... on VolumeAlert { subjects(limit: 1) { usage upper { percent } } }
      }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`, [alertName]);

type Row = NonNullable<ResultOf<typeof query>['alerts']>['nodes'][number];
type Variables = Parameters<typeof useList<typeof query, Row>>[1];

/** Every alert of the company, on volume or on a condition, and where it stands in this billing period. */
export default function Alerts({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const names = useMay('VIEW_SUBSCRIBER');
  const { hidden } = useUndo();
  const rule = params.get('rule') ?? '';
  const [field = 'ALERT_ID', direction = 'DESC'] = params.get('order')?.split('.') ?? [];
  const kind = params.get('kind') ?? '';
  const filter = { ...(rule in rules && { ruleType: { eq: rule } }), ...(kind in kinds && { kind: { eq: kind } }) };
  const variables = { filter, orderBy: [{ field, direction }], names } as Variables;
  const list = useList(may ? query : null, variables, ({ alerts }) => alerts);
  useSystem();
  if (!may) return <Frame current="alerts"><Empty>You need the permissions View Monitoring Alerts and View a User&apos;s Details to see alerts. The log needs only the first.</Empty></Frame>;
  const order = (of: string) => ({
    href: to('alerts', changed(params, { order: `${of}.${field === of && direction === 'DESC' ? 'ASC' : 'DESC'}` })),
    now: field !== of ? undefined : direction === 'DESC' ? ('descending' as const) : ('ascending' as const),
  });
  const columns: Column<Row>[] = [
    { key: 'watches', name: 'Alert', width: 230, order: order('NAME'), cell: (row) => <a href={to('alert', {}, String(row.alertId))} title={row.description ?? undefined}>{row.name ?? nameOf(row)}</a> },
    { key: 'rule', name: 'Watches', width: 210, order: order('RULE_TYPE'), cell: ({ ruleType }) => rules[ruleType] },
    { key: 'kind', name: 'Notices', width: 220, order: order('KIND'), cell: (row) => noticed(row) },
    { key: 'status', name: 'This period', width: 150, cell: (row) => <Status of={row} /> },
    { key: 'nearest', name: 'Most usage', width: 210, cell: (row) => <Nearest of={row} /> },
    { key: 'created', name: 'Made', width: 130, order: order('CREATED_AT'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
  return (
    <Frame current="alerts">
      <div className="filters">
        <nav className="switch" aria-label="Rule">
          {[['', 'All'], ...Object.entries(rules)].map(([key, name]) => (
            <a key={key} href={to('alerts', changed(params, { rule: key! }))} aria-current={key === rule ? 'true' : undefined}>{name}</a>
          ))}
        </nav>
        <select aria-label="Kind" value={kind} onChange={(event) => go(to('alerts', changed(params, { kind: event.target.value })))}>
          <option value="">Every kind</option>
          {Object.entries(kinds).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
        </select>
      </div>
      <Panel id="list" title={list.total === undefined ? 'Alerts' : `${count(list.total)} alert${list.total === 1 ? '' : 's'}`} aside={<Export name="Alerts" query={query} variables={variables} of={({ alerts }) => alerts} columns={file} />}>
        <Table
          label="Alerts" columns={columns} keyOf={({ alertId }) => String(alertId)}
          list={{ ...list, rows: list.rows.filter(({ alertId }) => !hidden.has(alertKey(alertId))) }}
          none={<Empty>{rule || kind ? 'No alert is such a one.' : 'No alert is set.'} <a href={to('newAlert')}>Set one</a>, and see beforehand when it would have fired.</Empty>}
        />
      </Panel>
    </Frame>
  );
}

const nameOf = ({ ruleType, target, subscriber, group }: Row): string => subscriber?.nickname || subscriber?.physicalId || group?.name || (ruleType === 'COMPANY' ? 'The company' : target ?? '');

/** What the alert notices, with its limit. */
const noticed = (of: Row): string => (of.__typename === 'VolumeAlert' ? `Above ${bytes(of.lowerThreshold)}, ${bytes(of.upperThreshold)}` : `${kinds[of.kind]}: ${limitOf(of)}`);

function Status({ of: { status, numberFired, alertId } }: { of: Row }) {
  if (status === 'FIRED') return <a className="badge upper" href={to('alertLog', { alert: String(alertId) })}>fired{numberFired && numberFired > 1 ? ` for ${count(numberFired)}` : ''}</a>;
  return <span className="badge">{status === null ? 'unknown' : 'armed'}</span>;
}

/** How far the subject with the most usage is from the upper threshold. */
function Nearest({ of }: { of: Row }) {
  if (of.__typename !== 'VolumeAlert') return <span className="hint">–</span>;
  const [first] = of.subjects ?? [];
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
  { name: 'name', text: (row: Row) => row.name },
  { name: 'kind', text: (row: Row) => row.kind },
  { name: 'lowerThreshold', text: (row: Row) => (row.__typename === 'VolumeAlert' ? Number(row.lowerThreshold) : null) },
  { name: 'upperThreshold', text: (row: Row) => (row.__typename === 'VolumeAlert' ? Number(row.upperThreshold) : null) },
  { name: 'condition', text: (row: Row) => (row.__typename === 'ConditionAlert' ? limitOf(row) : null) },
  { name: 'status', text: (row: Row) => row.status },
  { name: 'numberFired', text: (row: Row) => row.numberFired },
  { name: 'createdAt', text: (row: Row) => row.createdAt },
];
