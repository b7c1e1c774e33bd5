import { useState } from 'react';
import { count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { type Connection, useList } from '../graph/list';
import { sendMutation } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Panel } from '../shell/parts';
import { changed, to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Export } from '../ui/Export';
import { ExportAll } from '../ui/ExportAll';
import { type Column, Table } from '../ui/Table';
import { ConditionForm } from './ConditionForm';
import { kinds, limitOf, nameOfCondition } from './conditions';
import { Frame } from './Frame';
import { SilenceButton } from './SilenceHere';
import { Subject } from './Subject';
import { alertKey, nameOfWatched, rules } from './words';

const query = graphql(`
  query ConditionTable($first: Int, $after: String, $count: Boolean!, $names: Boolean!) {
    alerts(first: $first, after: $after, filter: { kind: { ne: VOLUME } }) {
      nodes {
        alertId name ruleType target kind createdAt
        subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
        ... on ConditionAlert { silentHours sourceSilentMinutes sessionsPerHour forecastBytes changesOf }
      }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const log = graphql(`
  query ConditionLogTable($first: Int, $after: String, $count: Boolean!, $filter: AlertLogFilter, $names: Boolean!) {
    alertLog(first: $first, after: $after, filter: $filter) {
      nodes {
        entryId alertId kind state ruleType target text resolvedAt isSilenced createdAt
        ... on ConditionLogEntry { source since }
        subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
      }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const remove = graphql('mutation DeleteCondition($input: DeleteConditionAlertInput!) { deleteConditionAlert(input: $input) { alert { alertId } } }');

type Row = Extract<NonNullable<ResultOf<typeof query>['alerts']>['nodes'][number], { changesOf: unknown }>;
type Entry = Extract<NonNullable<ResultOf<typeof log>['alertLog']>['nodes'][number], { since: unknown }>;

// The filters leave out what is on volume.
const alertsOf = ({ alerts }: ResultOf<typeof query>) => alerts as Connection<Row> | null;
const entriesOf = ({ alertLog }: ResultOf<typeof log>) => alertLog as Connection<Entry> | null;

/** The alerts on conditions, and what they noticed. */
export default function Conditions({ params }: { params: URLSearchParams }) {
  const mayList = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const mayLog = useMay('VIEW_MONITORING_ALERTS');
  return (
    <Frame current="conditions">
      {mayList ? <List /> : <Empty>You need the permissions View Monitoring Alerts and View a User&apos;s Details to see the conditions.</Empty>}
      {mayLog && <Log params={params} />}
    </Frame>
  );
}

function List() {
  const names = useMay('VIEW_SUBSCRIBER');
  const mayAdd = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  const mayDelete = useMay('VIEW_MONITORING_ALERTS', 'DELETE_MONITORING_ALERTS');
  const { hidden } = useUndo();
  const [making, setMaking] = useState(false);
  const [dropping, setDropping] = useState<Row | null>(null);
  const list = useList(query, { names }, alertsOf);
  useSystem();
  const drop = ({ alertId }: Row) => {
    setDropping(null);
    offerUndo({ hides: alertKey(alertId), text: 'The condition is deleted.', commit: () => sendMutation(remove, { input: { alertId } }, { keepalive: true }) });
  };
  const columns: Column<Row>[] = [
    { key: 'watches', name: 'Watches', width: 220, cell: (row) => <a href={to('alert', {}, String(row.alertId))}>{row.name ?? nameOfWatched(row)}</a> },
    { key: 'rule', name: 'Rule', width: 210, cell: ({ ruleType }) => rules[ruleType] },
    { key: 'kind', name: 'Notices', width: 160, cell: ({ kind }) => kinds[kind] },
    { key: 'bound', name: 'Limit', width: 220, cell: limitOf },
    { key: 'created', name: 'Made', width: 130, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { key: 'silence', name: 'Silence', width: 90, cell: (row) => <SilenceButton className="bare link" of={[{ kind: 'alert', alertId: row.alertId, name: nameOfCondition(row) }]} /> },
    { key: 'delete', name: 'Delete', width: 90, cell: (row) => mayDelete && <button type="button" className="bare link" aria-label={`Delete the condition ${nameOfCondition(row)}`} onClick={() => setDropping(row)}>Delete</button> },
  ];
  return (
    <Panel id="list" title={list.total === undefined ? 'Conditions' : `${count(list.total)} condition${list.total === 1 ? '' : 's'}`} aside={mayAdd && <button type="button" onClick={() => setMaking(true)}>New condition</button>}>
      <Table
        label="Conditions" columns={columns} keyOf={({ alertId }) => String(alertId)}
        list={{ ...list, rows: list.rows.filter(({ alertId }) => !hidden.has(alertKey(alertId))) }}
        none={<Empty>Nothing but volume is watched. A condition notices devices that are silent, begin too many sessions, will use too much, or change their SIM&apos;s device, address or country.</Empty>}
      />
      {making && <ConditionForm close={() => setMaking(false)} />}
      {dropping && (
        <Dialog title="Delete this condition?" cancel={() => setDropping(null)}>
          <p>{nameOfCondition(dropping)}: it reports nothing any more. What it noticed stays in the log.</p>
          <p className="actions">
            <button type="button" autoFocus onClick={() => setDropping(null)}>Keep it</button>
            <button type="button" className="danger" onClick={() => drop(dropping)}>Delete the condition</button>
          </p>
        </Dialog>
      )}
    </Panel>
  );
}

/** What was noticed, the newest first. */
function Log({ params }: { params: URLSearchParams }) {
  const names = useMay('VIEW_SUBSCRIBER');
  const lasting = params.get('now') === '1';
  const variables = { filter: { kind: { ne: 'VOLUME' }, ...(lasting && { isOpen: { eq: true } }) }, names } as Parameters<typeof useList<typeof log, Entry>>[1];
  const list = useList(log, variables, entriesOf);
  const columns: Column<Entry>[] = [
    { key: 'subject', name: 'Of', width: 210, cell: (row) => (row.source ? <span>{row.source}</span> : <Subject {...row} group={row.subscriber ? null : row.group} />) },
    { key: 'state', name: 'State', width: 120, cell: (row) => <State of={row} /> },
    { key: 'text', name: 'What', width: 460, cell: ({ text, isSilenced }) => <span title={text}>{isSilenced && <><span className="badge">silenced</span> </>}{text}</span> },
    { key: 'at', name: 'When', width: 130, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
  return (
    <>
      <nav className="switch" aria-label="Entries">
        {[['', 'All'], ['1', 'Lasting now']].map(([key, name]) => (
          <a key={key} href={to('conditions', changed(params, { now: key! }))} aria-current={(key === '1') === lasting ? 'true' : undefined}>{name}</a>
        ))}
      </nav>
      <Panel id="noticed" title={list.total === undefined ? 'Noticed' : `Noticed ${count(list.total)} time${list.total === 1 ? '' : 's'}`} aside={<div className="row"><Export name="Conditions" query={log} variables={variables} of={entriesOf} columns={file} />{names && <ExportAll of="alert-log" filter={variables.filter} />}</div>}>
        <Table label="What was noticed" list={list} columns={columns} keyOf={({ entryId }) => String(entryId)} none={<Empty>{lasting ? 'Nothing lasts at the moment.' : 'Nothing was noticed yet.'}</Empty>} />
      </Panel>
    </>
  );
}

function State({ of: { kind, state, resolvedAt } }: { of: Entry }) {
  if (state === 'RESOLVED') return <span className="badge good">resolved</span>;
  if (resolvedAt) return <span className="badge">over</span>;
  return <span className="badge upper">{kind === 'SILENT' || kind === 'SOURCE_SILENT' ? 'silent' : 'fired'}</span>;
}

const file = [
  { name: 'entryId', text: (row: Entry) => row.entryId },
  { name: 'createdAt', text: (row: Entry) => row.createdAt },
  { name: 'alertId', text: (row: Entry) => row.alertId },
  { name: 'kind', text: (row: Entry) => row.kind },
  { name: 'state', text: (row: Entry) => row.state },
  { name: 'physicalId', text: (row: Entry) => row.subscriber?.physicalId ?? null },
  { name: 'groupId', text: (row: Entry) => row.group?.groupId ?? null },
  { name: 'source', text: (row: Entry) => row.source },
  { name: 'since', text: (row: Entry) => row.since },
  { name: 'text', text: (row: Entry) => row.text },
];
