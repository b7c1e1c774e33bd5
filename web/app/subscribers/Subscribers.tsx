import { type ReactNode, useMemo, useState } from 'react';
import { count, useSystem } from '../format/units';
import { beginning, useList } from '../graph/list';
import { SearchBox } from '../overview/SearchBox';
import { Empty, Panel } from '../shell/parts';
import { changed, go, toSubscribers } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { Export } from '../ui/Export';
import { ExportAll } from '../ui/ExportAll';
import { Popover } from '../ui/Popover';
import { type Column, Table } from '../ui/Table';
import '../styles/lists.css';
import { BulkBar } from './BulkBar';
import { SubscriberForm } from './SubscriberForm';
import { chosenColumns, columns, orderOf, query, relationsOf, type Row, type Shown, tagsExported } from './columns';
import { FilterBar } from './FilterBar';
import { conditionsOf, filterOf } from './filters';
import { useChosen } from './selected';

type Variables = Parameters<typeof useList<typeof query, Row>>[1];

/** The subscribers as a tool: filtered, ordered and shown as the address says, chosen and taken away as a file. */
export default function Subscribers({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_SUBSCRIBER');
  const timeZone = useZone();
  const shown = chosenColumns(params);
  const order = orderOf(params);
  // What is silent is counted from when the list was opened, or it would begin anew with each minute.
  const filter = useMemo(() => filterOf(params, timeZone), [params, timeZone]);
  const variables = { filter, orderBy: order ? [order] : [], ...relationsOf(shown) } as Variables;
  const after = params.get('after');
  const list = useList(may ? query : null, variables, ({ subscribers }) => subscribers, after ? { after, from: Number(params.get('from')) || 0 } : beginning);
  const chosen = useChosen(JSON.stringify(filter ?? null), list.rows);
  const mayTag = useMay('UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const mayManage = useMay('MANAGE_INVENTORY');
  const { isRestricted } = useViewer();
  const [adding, setAdding] = useState(false);
  useSystem();
  if (!may) return <Page><Empty>You need the permission View Subscriber to see subscribers. Ask an administrator of your company for it.</Empty></Page>;
  return (
    <Page>
      <Panel id="list" before={<FilterBar params={params} />} title={list.total === undefined ? 'Subscribers' : `${count(list.total)} subscriber${list.total === 1 ? '' : 's'}`} aside={<div className="row">{mayManage && !isRestricted && <button type="button" onClick={() => setAdding(true)}>New subscriber</button>}<ColumnChooser params={params} shown={shown} /><Export name="Subscribers" query={query} variables={{ ...variables, tagLimit: tagsExported }} of={({ subscribers }) => subscribers} columns={shown.map(({ key, text }) => ({ name: key, text }))} /><ExportAll of="subscribers" filter={filter} /></div>}>
        {(chosen.ids.size > 0 || chosen.matching) && <BulkBar chosen={chosen} filter={filter} shown={list.rows.length} total={list.total} />}
        <Table
          label="Subscribers" list={list} keyOf={({ physicalId }) => physicalId} selection={mayTag || mayManage ? chosen.selection : undefined}
          columns={shown.map((column) => columnOf(column, params, timeZone))}
          hrefOf={(after, from) => toSubscribers(changed(params, after ? { after, from: String(from) } : {}))}
          none={<None filtered={conditionsOf(params).length > 0 || params.has('state')} />}
        />
      </Panel>
      {adding && <SubscriberForm of={null} close={() => setAdding(false)} />}
    </Page>
  );
}

const Page = ({ children }: { children: ReactNode }) => (
  <div className="page wide list">
    <div className="heading">
      <h1>Subscribers</h1>
      <SearchBox />
    </div>
    {children}
  </div>
);

const None = ({ filtered }: { filtered: boolean }) =>
  filtered ? <Empty>No subscriber fits. <a href={toSubscribers()}>Show all subscribers</a></Empty>
    : <Empty>There are no subscribers yet. Import them with <code>simgraph import FILE</code>; <a href="/docs/clients">Clients</a> shows other ways in.</Empty>;

/** The column with the link that orders by it, or turns the order round. */
function columnOf({ key, name, width, kind, order, down, phone, cell }: Shown, params: URLSearchParams, timeZone: string): Column<Row> {
  const now = orderOf(params);
  const current = now && now.field === order ? now.direction : undefined;
  const first = down ? 'DESC' : 'ASC';
  const next = current === undefined ? first : current === first ? (down ? 'ASC' : 'DESC') : null;
  return {
    key, name, width, kind, phone,
    cell: (row) => cell(row, timeZone),
    order: order ? { href: toSubscribers(changed(params, { order: next && `${order}.${next}` })), now: current && (current === 'ASC' ? 'ascending' : 'descending') } : undefined,
  };
}

/** Which columns are shown; the choice stands in the address. */
function ColumnChooser({ params, shown }: { params: URLSearchParams; shown: Shown[] }) {
  const keys = shown.map(({ key }) => key);
  const choose = (key: string, chosen: boolean) => go(toSubscribers(changed(params, { columns: (chosen ? [...keys, key] : keys.filter((one) => one !== key)).join(',') })));
  return (
    <Popover button="Columns" label="Columns" className="quiet">
      {() => (
        <div className="columns-menu">
          {columns.slice(1).map(({ key, name }) => (
            <label key={key} className="inline"><input type="checkbox" checked={keys.includes(key)} onChange={(event) => choose(key, event.target.checked)} />{name}</label>
          ))}
          <a href={toSubscribers(changed(params, { columns: null }))}>The usual columns</a>
        </div>
      )}
    </Popover>
  );
}
