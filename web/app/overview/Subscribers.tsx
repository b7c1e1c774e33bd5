import { useAsk } from '../graph/use';
import { bytes, count, useSystem } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';
import { go, toSubscriber, toSubscribers } from '../shell/route';
import { SearchBox } from './SearchBox';
import { States } from './States';

interface Row {
  physicalId: string;
  subscriberId: string;
  nickname: string;
  operatorName: string;
  tariffName: string | null;
  isActive: boolean;
  isBarred: boolean;
  dataUsage: string | null;
  networkState: { isOnline: boolean; isTransferring: boolean } | null;
}

interface Answer {
  subscribers: Page | null;
}

interface Page {
  nodes: Row[];
  totalCount: number | null;
  pageInfo: { endCursor: string | null; startCursor: string | null; hasNextPage: boolean; hasPreviousPage: boolean };
}

const query = `query Subscribers($first: Int, $after: String, $last: Int, $before: String, $filter: SubscriberFilter, $orderBy: [SubscriberOrder!]) {
  subscribers(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy) {
    nodes { physicalId subscriberId nickname operatorName tariffName isActive isBarred dataUsage networkState { isOnline isTransferring } }
    totalCount
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}`;

const states: Record<string, { name: string; filter: object }> = {
  active: { name: 'Active', filter: { isActive: { eq: true } } },
  online: { name: 'Online', filter: { networkState: { isOnline: { eq: true } } } },
  transferring: { name: 'Transferring', filter: { networkState: { isTransferring: { eq: true } } } },
  barred: { name: 'Barred', filter: { isBarred: { eq: true } } },
};

const orders: Record<string, { name: string; orderBy: object[] }> = {
  id: { name: 'Physical ID', orderBy: [] },
  usage: { name: 'Most data used', orderBy: [{ field: 'DATA_USAGE', direction: 'DESC' }] },
  nickname: { name: 'Nickname', orderBy: [{ field: 'NICKNAME' }] },
  expiry: { name: 'Contract ends first', orderBy: [{ field: 'EXPIRY_DATE' }] },
};

const pageLength = 25;

function filterOf(params: URLSearchParams): object | undefined {
  const all: object[] = [];
  const state = states[params.get('state') ?? ''];
  if (state) all.push(state.filter);
  const tag = params.get('tag');
  if (tag) all.push({ tags: { eq: tag } });
  const text = params.get('search');
  if (text) all.push({ or: ['physicalId', 'subscriberId', 'nickname', 'imsi'].map((field) => ({ [field]: { like: text } })) });
  return all.length > 0 ? { and: all } : undefined;
}

/** The part of the list that the address names. */
function pageOf(params: URLSearchParams): object {
  const [after, before] = [params.get('after'), params.get('before')];
  if (before) return { last: pageLength, before };
  return after ? { first: pageLength, after } : { first: pageLength };
}

/** The subscribers, by state, tag or search, page by page. Where one is in the list is part of the address. */
export function Subscribers({ params }: { params: URLSearchParams }) {
  const order = orders[params.get('order') ?? ''] ?? orders.id!;
  const asked = useAsk<Answer>(query, { ...pageOf(params), filter: filterOf(params), orderBy: order.orderBy });
  const page = (asked.data ?? asked.former)?.subscribers;
  const total = asked.data?.subscribers?.totalCount;
  useSystem();
  return (
    <div className="page">
      <div className="heading">
        <h1>Subscribers</h1>
        <SearchBox />
      </div>
      <Chosen params={params} />
      <Panel id="list" title={typeof total === 'number' ? `${count(total)} subscribers` : 'Subscribers'} aside={<Order params={params} />}>
        <Answered asked={asked} of={({ subscribers }) => subscribers} label="Reading subscribers" rows={8}>
          {({ nodes }) => (nodes.length === 0 ? <Empty>No subscriber fits.</Empty> : <Rows rows={nodes} />)}
        </Answered>
        {page && <Pager params={params} {...page.pageInfo} />}
      </Panel>
    </div>
  );
}

/** Leads to the pages beside this one. A link that leads nowhere keeps the focus. */
function Pager({ params, startCursor, endCursor, hasPreviousPage, hasNextPage }: { params: URLSearchParams } & Page['pageInfo']) {
  const link = (name: string, leads: boolean, key: 'before' | 'after', cursor: string | null) =>
    leads && cursor ? <a href={changed(params, key, cursor)}>{name}</a> : <a role="link" aria-disabled="true" tabIndex={-1}>{name}</a>;
  return (
    <nav className="pager" aria-label="Pages of the list">
      {link('Previous', hasPreviousPage, 'before', startCursor)}
      {link('Next', hasNextPage, 'after', endCursor)}
    </nav>
  );
}

const changed = (params: URLSearchParams, key: string, value: string) => {
  const next = new URLSearchParams(params);
  // Another filter, order or page begins anew; a cursor belongs to its list.
  next.delete('after');
  next.delete('before');
  if (value) next.set(key, value);
  else next.delete(key);
  return toSubscribers(Object.fromEntries(next));
};

function Chosen({ params }: { params: URLSearchParams }) {
  const state = params.get('state') ?? '';
  return (
    <div className="filters">
      <nav className="switch" aria-label="State">
        <a href={changed(params, 'state', '')} aria-current={state === '' ? 'true' : undefined}>All</a>
        {Object.entries(states).map(([key, { name }]) => (
          <a key={key} href={changed(params, 'state', key)} aria-current={state === key ? 'true' : undefined}>{name}</a>
        ))}
      </nav>
      {['tag', 'search'].map((key) => params.get(key) && (
        <a key={key} className="chip" href={changed(params, key, '')} aria-label={`Remove ${key} ${params.get(key)}`}>
          {key}: {params.get(key)} <span aria-hidden="true">×</span>
        </a>
      ))}
    </div>
  );
}

const Order = ({ params }: { params: URLSearchParams }) => (
  <label className="inline">
    <span className="hint">Order</span>
    <select value={params.get('order') ?? 'id'} onChange={(event) => go(changed(params, 'order', event.target.value))}>
      {Object.entries(orders).map(([key, { name }]) => <option key={key} value={key}>{name}</option>)}
    </select>
  </label>
);

const Rows = ({ rows }: { rows: Row[] }) => (
  <div className="table-scroll" role="region" aria-label="Subscribers" tabIndex={0}>
    <table className="rows">
      <thead>
        <tr><th scope="col">Subscriber</th><th scope="col">Number</th><th scope="col">Operator</th><th scope="col">Tariff</th><th scope="col">State</th><th scope="col" className="number">This period</th></tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.physicalId}>
            <td><a href={toSubscriber(row.physicalId)}>{row.nickname || row.physicalId}</a>{row.nickname && <span className="hint mono">{row.physicalId}</span>}</td>
            <td className="mono">{row.subscriberId}</td>
            <td>{row.operatorName}</td>
            <td>{row.tariffName ?? <span className="hint">hidden</span>}</td>
            <td><States of={row} /></td>
            <td className="number">{row.dataUsage === null ? '–' : bytes(row.dataUsage)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
