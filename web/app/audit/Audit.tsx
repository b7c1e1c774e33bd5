import { type FormEvent, type ReactNode, useState } from 'react';
import { dateOf, momentInZone, startOfDay } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { DayField } from '../picker/Date';
import { Dialog } from '../shell/Dialog';
import { Empty, Panel } from '../shell/parts';
import { changed, go, to } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Export } from '../ui/Export';
import { ExportAll } from '../ui/ExportAll';
import { type Column, Table } from '../ui/Table';
import '../styles/lists.css';

const query = graphql(`
  query AuditTable($first: Int, $after: String, $count: Boolean!, $filter: AuditFilter) {
    auditLog(first: $first, after: $after, filter: $filter) {
      nodes { sequence at action subjectType subjectId actor accessKeyId door address requestId reason hash changes { field before after } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

type Entry = NonNullable<ResultOf<typeof query>['auditLog']>['nodes'][number];
type Variables = Parameters<typeof useList<typeof query, Entry>>[1];

const texts = { action: 'Action', actor: 'Who', subjectType: 'Of what', subjectId: 'Identifier', door: 'By', reason: 'Reason', requestId: 'Request' };

/** Who changed what, filtered, with what each entry noted. */
export default function Audit({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_A_USERS_DETAILS');
  const { isRestricted } = useViewer();
  if (!may || isRestricted) return <Frame><Empty>{isRestricted ? 'The audit log is for users of the whole company.' : "You need the permission View a User's Details to see the audit log."}</Empty></Frame>;
  return (
    <Frame>
      <Filters key={params.toString()} params={params} />
      <Entries params={params} />
    </Frame>
  );
}

const Frame = ({ children }: { children: ReactNode }) => (
  <div className="page wide">
    <div className="heading"><div><h1>Audit</h1><p className="hint">Each entry carries a hash over the one before; <code>simgraph audit verify</code> checks the chain.</p></div></div>
    {children}
  </div>
);

/** The entries that the parameters select. */
function Entries({ params }: { params: URLSearchParams }) {
  const timeZone = useZone();
  const [open, setOpen] = useState<Entry | null>(null);
  const variables = { filter: filterOf(params, timeZone) } as Variables;
  const list = useList(query, variables, ({ auditLog }) => auditLog);
  const columns: Column<Entry>[] = [
    { key: 'at', name: 'When', width: 130, cell: ({ at }) => <Ago at={at} /> },
    { key: 'action', name: 'Action', width: 190, cell: (row) => <button type="button" className="bare link" onClick={() => setOpen(row)}>{row.action}</button> },
    { key: 'subject', phone: 'right', name: 'Of what', width: 250, cell: (row) => <SubjectOf of={row} /> },
    { key: 'change', name: 'Change', width: 260, cell: ({ changes }) => summaryOf(changes) },
    { key: 'actor', phone: 'left', name: 'Who', width: 200, cell: ({ actor }) => actor || <span className="hint">the service</span> },
    { key: 'door', name: 'By', width: 100, cell: ({ door }) => door },
    { key: 'reason', name: 'Reason', width: 200, cell: ({ reason }) => reason },
  ];
  return (
    <Panel id="audit" title={list.total === undefined ? 'Entries' : `Entries: ${count(list.total)}`} aside={<div className="row"><Export name="Audit" query={query} variables={variables} of={({ auditLog }) => auditLog} columns={file} /><ExportAll of="audit" filter={variables.filter} /></div>}>
      <Table label="Audit entries" list={list} columns={columns} keyOf={({ sequence }) => sequence} none={<Empty>{params.size > 0 ? 'No entry fits.' : 'Nothing has been changed yet.'}</Empty>} />
      {open && <One of={open} close={() => setOpen(null)} />}
    </Panel>
  );
}

function filterOf(params: URLSearchParams, timeZone: string) {
  const day = (text: string, days: number) => new Date(startOfDay(Date.parse(`${text}T12:00:00Z`), timeZone, { days })).toISOString();
  const [since, until] = ['since', 'until'].map((key) => (/^\d{4}-\d\d-\d\d$/.test(params.get(key) ?? '') ? params.get(key) : null));
  const all = [
    ...Object.keys(texts).filter((key) => params.get(key)).map((key) => (key === 'subjectId' ? { or: [{ subjectId: { eq: params.get(key) } }, { physicalIds: { eq: params.get(key) } }] } : { [key]: { like: params.get(key) } })),
    ...(since ? [{ at: { ge: day(since, 0) } }] : []),
    ...(until ? [{ at: { lt: day(until, 1) } }] : []),
  ];
  return all.length > 0 ? { and: all } : undefined;
}

function Filters({ params }: { params: URLSearchParams }) {
  const today = dateOf(Date.now(), useZone());
  const [days, setDays] = useState({ since: params.get('since') ?? '', until: params.get('until') ?? '' });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    go(to('audit', changed(params, { ...Object.fromEntries([...form].map(([key, value]) => [key, String(value).trim()])), ...days })));
  };
  return (
    <form className="filters audit-filters" onSubmit={submit}>
      {Object.entries(texts).slice(0, 6).map(([key, name]) => (
        <label key={key}><span className="hint">{name}</span><input name={key} defaultValue={params.get(key) ?? ''} spellCheck={false} placeholder={key === 'subjectId' ? 'exactly' : 'contains'} /></label>
      ))}
      <DayField label="From" isControl max={today} value={days.since} change={(since) => setDays({ ...days, since })} />
      <DayField label="To" isControl max={today} value={days.until} change={(until) => setDays({ ...days, until })} />
      <button type="submit" className="primary">Filter</button>
      {params.size > 0 && <a href={to('audit')}>Remove all</a>}
    </form>
  );
}

/** What an entry is about, as a link where it has a view. */
function SubjectOf({ of: { subjectType, subjectId } }: { of: Entry }) {
  const view = ({ Subscriber: 'subscriber', Alert: 'alert', Group: 'group', Tag: 'tag' } as const)[subjectType];
  if (!subjectId) return <span className="hint">{subjectType}</span>;
  const text = `${subjectType} ${subjectId}`;
  return view ? <a href={to(view, {}, subjectId)}>{text}</a> : text;
}

function summaryOf(changes: Entry['changes']): string {
  const [first] = changes;
  if (!first) return '–';
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
  return `${first.field}: ${first.before ?? 'nothing'} → ${first.after ?? 'nothing'}${more}`;
}

/** One entry: before, after, and where it came from. */
function One({ of: entry, close }: { of: Entry; close: () => void }) {
  const timeZone = useZone();
  const facts: [string, string | null][] = [
    ['When', momentInZone(entry.at, timeZone)], ['Who', entry.actor || 'the service'], ['Reason', entry.reason], ['Access key', entry.accessKeyId], ['By', entry.door],
    ['Address', entry.address], ['Request', entry.requestId], ['Number', entry.sequence], ['Hash', entry.hash],
  ];
  return (
    <Dialog title={`${entry.action} · ${[entry.subjectType, entry.subjectId].filter(Boolean).join(' ')}`} cancel={close}>
      {entry.changes.length > 0 && (
        <div className="table-scroll" role="region" aria-label="What changed" tabIndex={0}>
          <table className="before-after">
            <thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
            <tbody>{entry.changes.map(({ field, before, after }) => <tr key={field}><th scope="row">{field}</th><td>{before ?? '–'}</td><td>{after ?? '–'}</td></tr>)}</tbody>
          </table>
        </div>
      )}
      <dl className="facts">{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt>{name}</dt><dd className={name === 'Hash' ? 'mono' : undefined}>{value}</dd></div>)}</dl>
      <p className="actions"><button type="button" autoFocus onClick={close}>Close</button></p>
    </Dialog>
  );
}

const file = [
  ...(['sequence', 'at', 'action', 'subjectType', 'subjectId', 'actor', 'accessKeyId', 'door', 'address', 'requestId', 'reason', 'hash'] as const).map((name) => ({ name, text: (row: Entry) => row[name] })),
  { name: 'changes', text: (row: Entry) => row.changes.map(({ field, before, after }) => `${field}: ${before ?? ''} -> ${after ?? ''}`).join('; ') },
];
