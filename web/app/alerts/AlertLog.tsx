import { dateOf, startOfDay } from '../format/time';
import { bytes, count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { useAsk } from '../graph/use';
import { DayField } from '../picker/Date';
import { Close } from '../shell/icons';
import { Empty, Panel } from '../shell/parts';
import { changed, go, to } from '../shell/route';
import { useMay, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Export } from '../ui/Export';
import { ExportAll } from '../ui/ExportAll';
import { Popover } from '../ui/Popover';
import { type Column, Table } from '../ui/Table';
import { alertName, kinds, nameOfAlert } from './conditions';
import { Frame } from './Frame';
import { Subject } from './Subject';
import { mailBadge, mailStates, nameOfWatched, rules } from './words';

export const query = graphql(`
  query AlertLogTable($first: Int, $after: String, $count: Boolean!, $filter: AlertLogFilter, $orderBy: [AlertLogOrder!], $names: Boolean!, $deliveries: Boolean!) {
    alertLog(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
      nodes {
        __typename id entryId alertId kind state text ruleType target createdAt isNotified isSilenced
        ... on VolumeLogEntry { limitBoundary threshold usage isLate }
        ... on ConditionLogEntry { source }
        subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
        alert @include(if: $deliveries) { name }
        deliveries @include(if: $deliveries) { recipientName state attempts finishedAt lastError }
      }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

const named = graphql(`
  query AlertOfLog($alertId: Int!, $names: Boolean!) {
    alert(by: { alertId: $alertId }) {
      ...AlertName
      subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
    }
  }
`, [alertName]);

export type Entry = NonNullable<ResultOf<typeof query>['alertLog']>['nodes'][number];
type Variables = Parameters<typeof useList<typeof query, Entry>>[1];

/** What has fired, when, and how its mail fares. */
export default function AlertLog({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_MONITORING_ALERTS');
  if (!may) return <Frame current="alertLog"><Empty>You need the permission View Monitoring Alerts to see what has fired.</Empty></Frame>;
  return (
    <Frame current="alertLog">
      <Filters params={params} />
      <Entries params={params} />
    </Frame>
  );
}

/** The entries that the parameters select. */
export function Entries({ params }: { params: URLSearchParams }) {
  const timeZone = useZone();
  const names = useMay('VIEW_SUBSCRIBER');
  const deliveries = useMay('VIEW_A_USERS_DETAILS');
  const variables = { filter: filterOf(params, timeZone), names, deliveries } as Variables;
  const list = useList(query, variables, ({ alertLog }) => alertLog);
  useSystem();
  const columns: Column<Entry>[] = [
    { key: 'subject', name: 'Of', width: 200, cell: (row) => <Who of={row} /> },
    { key: 'what', name: 'What', width: 330, cell: (row) => <What of={row} /> },
    { key: 'at', phone: 'right', name: 'When', width: 130, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { key: 'rule', phone: 'left', name: 'Alert', width: 230, cell: (row) => (row.alertId === null ? '–' : <a href={to('alert', {}, String(row.alertId))}>{row.alert?.name ?? nameOfWatched(row)}</a>) },
    { key: 'mail', name: 'Mail', width: 180, cell: (row) => <Deliveries of={row} /> },
  ];
  return (
    <Panel id="log" title={list.total === undefined ? 'Log' : `Fired ${count(list.total)} time${list.total === 1 ? '' : 's'}`} aside={<div className="row"><Export name="Alert log" query={query} variables={variables} of={({ alertLog }) => alertLog} columns={file} />{names && <ExportAll of="alert-log" filter={variables.filter} />}</div>}>
      <Table label="Entries of the log" list={list} columns={columns} keyOf={({ id }) => id} none={<Empty>{params.size > 0 ? 'Nothing in the log fits.' : 'No alert has fired yet.'}</Empty>} />
    </Panel>
  );
}

function filterOf(params: URLSearchParams, timeZone: string) {
  const of = (key: string) => params.get(key) ?? '';
  const day = (text: string, days: number) => new Date(startOfDay(Date.parse(`${text}T12:00:00Z`), timeZone, { days })).toISOString();
  const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
  const all = [
    of('kind') in kinds && { kind: { eq: of('kind') } },
    of('boundary') && { limitBoundary: { eq: of('boundary').toUpperCase() } },
    of('rule') in rules && { ruleType: { eq: of('rule') } },
    /^\d+$/.test(of('alert')) && { alertId: { eq: of('alert') } },
    of('subscriber') && { physicalId: { eq: of('subscriber') } },
    isDay(of('since')) && { createdAt: { ge: day(of('since'), 0) } },
    isDay(of('until')) && { createdAt: { lt: day(of('until'), 1) } },
    of('late') && { isLate: { eq: true } },
  ].filter(Boolean);
  return all.length > 0 ? { and: all } : undefined;
}

function Filters({ params }: { params: URLSearchParams }) {
  const today = dateOf(Date.now(), useZone());
  const set = (key: string, value: string) => go(to('alertLog', changed(params, { [key]: value })));
  const boundary = params.get('boundary') ?? '';
  const alertId = Number(params.get('alert'));
  const mayName = useMay('VIEW_A_USERS_DETAILS');
  const alert = useAsk(mayName && alertId > 0 ? named : null, { alertId, names: useMay('VIEW_SUBSCRIBER') }).data?.alert;
  return (
    <div className="filters">
      <nav className="switch" aria-label="Threshold">
        {[['', 'All'], ['lower', 'Lower'], ['upper', 'Upper']].map(([key, name]) => (
          <a key={key} href={to('alertLog', changed(params, { boundary: key! }))} aria-current={key === boundary ? 'true' : undefined}>{name}</a>
        ))}
      </nav>
      <select aria-label="Kind" value={params.get('kind') ?? ''} onChange={(event) => set('kind', event.target.value)}>
        <option value="">Every kind</option>
        {Object.entries(kinds).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
      </select>
      <select aria-label="Rule" value={params.get('rule') ?? ''} onChange={(event) => set('rule', event.target.value)}>
        <option value="">Every rule</option>
        {Object.entries(rules).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
      </select>
      <DayField label="From" isControl max={today} value={params.get('since') ?? ''} change={(since) => set('since', since)} />
      <DayField label="to" isControl max={today} value={params.get('until') ?? ''} change={(until) => set('until', until)} />
      {[['alert', alert ? nameOfAlert(alert) : `Alert ${params.get('alert')}`], ['subscriber', `Subscriber ${params.get('subscriber')}`]].map(([key, name]) => params.get(key!) && (
        <span key={key} className="chip">{name}<button type="button" aria-label={`Remove the filter ${name}`} onClick={() => set(key!, '')}><Close /></button></span>
      ))}
      {params.size > 0 && <a href={to('alertLog')}>Remove all</a>}
    </div>
  );
}

/** Whom an entry is about. */
function Who({ of }: { of: Entry }) {
  if (of.__typename === 'ConditionLogEntry' && of.source) return <span>{of.source}</span>;
  return <Subject {...of} group={of.subscriber ? null : of.group} />;
}

/** What happened: usage above a threshold, or what a condition noticed. */
function What({ of }: { of: Entry }) {
  if (of.__typename === 'VolumeLogEntry') {
    return <><span className={`badge ${of.limitBoundary.toLowerCase()}`}>{of.limitBoundary.toLowerCase()}</span> {bytes(of.usage)} used, above {bytes(of.threshold)}</>;
  }
  return <span title={of.text}><span className={`badge ${of.state === 'RESOLVED' ? 'good' : 'upper'}`}>{of.state === 'RESOLVED' ? 'over' : kinds[of.kind]?.toLowerCase()}</span> {of.text}</span>;
}

/** How the mail of an entry fares, in a word; at each recipient when asked. */
function Deliveries({ of: { isNotified, isSilenced, deliveries } }: { of: Entry }) {
  if (isSilenced) return <span className="badge">silenced</span>;
  if (!isNotified) return <span className="hint">too late for mail</span>;
  if (!deliveries) return <span className="hint">–</span>;
  if (deliveries.length === 0) return <a className="hint" href={to('recipients')}>no recipient</a>;
  const failed = deliveries.filter(({ state }) => state === 'FAILED' || state === 'SUPPRESSED').length;
  const sent = deliveries.filter(({ state }) => state === 'DELIVERED').length;
  const state = failed > 0 ? 'FAILED' : sent === deliveries.length ? 'DELIVERED' : 'WAITING';
  return (
    <Popover button={<span className={mailBadge(state)}>{failed > 0 ? `${count(failed)} not delivered` : `${count(sent)} of ${count(deliveries.length)} sent`}</span>} label="Mail of this entry" className="bare">
      {() => (
        <ul className="deliveries">
          {deliveries.map(({ recipientName, state, attempts, finishedAt, lastError }) => (
            <li key={recipientName}>
              <span className="entry-text"><strong>{recipientName}</strong><span className="hint">{attempts} attempt{attempts === 1 ? '' : 's'}{finishedAt && <>, <Ago at={finishedAt} /></>}{lastError && `: ${lastError}`}</span></span>
              <span className={mailBadge(state)}>{mailStates[state]}</span>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  );
}

const volume = (row: Entry) => (row.__typename === 'VolumeLogEntry' ? row : undefined);
const numberOf = (text: string | undefined) => (text === undefined ? null : Number(text));

const file = [
  { name: 'entryId', text: (row: Entry) => row.entryId },
  { name: 'createdAt', text: (row: Entry) => row.createdAt },
  { name: 'alertId', text: (row: Entry) => row.alertId },
  { name: 'kind', text: (row: Entry) => row.kind },
  { name: 'state', text: (row: Entry) => row.state },
  { name: 'ruleType', text: (row: Entry) => row.ruleType },
  { name: 'target', text: (row: Entry) => row.target },
  { name: 'limitBoundary', text: (row: Entry) => volume(row)?.limitBoundary ?? null },
  { name: 'physicalId', text: (row: Entry) => row.subscriber?.physicalId ?? null },
  { name: 'threshold', text: (row: Entry) => numberOf(volume(row)?.threshold) },
  { name: 'usage', text: (row: Entry) => numberOf(volume(row)?.usage) },
  { name: 'isLate', text: (row: Entry) => volume(row)?.isLate.toString() ?? null },
  { name: 'text', text: (row: Entry) => row.text },
  { name: 'mail', text: (row: Entry) => row.deliveries?.map(({ recipientName, state }) => `${recipientName} ${mailStates[state]}`).join('; ') ?? null },
];
