import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { Empty, Panel } from '../shell/parts';
import { changed, to } from '../shell/route';
import { Ago } from '../ui/Ago';
import { type Column, Table } from '../ui/Table';
import { deliveryStates } from './webhooks';

const query = graphql(`
  query SentTable($first: Int, $after: String, $count: Boolean!, $filter: DeliveryFilter) {
    deliveries(first: $first, after: $after, filter: $filter) {
      nodes { id channel recipientName state attempts createdAt lastError ... on MailDelivery { kind } ... on WebhookDelivery { eventType } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

type Row = NonNullable<ResultOf<typeof query>['deliveries']>['nodes'][number];
const sentStates = ['QUEUED', 'DELIVERED', 'FAILED', 'CANCELLED'];

const columns: Column<Row>[] = [
  { key: 'recipient', name: 'To', width: 250, cell: ({ recipientName }) => recipientName },
  { key: 'channel', name: 'By', width: 100, cell: ({ channel }) => (channel === 'MAIL' ? 'mail' : 'webhook') },
  { key: 'about', phone: 'left', name: 'About', width: 180, cell: (row) => ('kind' in row ? row.kind.toLowerCase() : 'eventType' in row ? row.eventType : '') },
  { key: 'state', phone: 'right', name: 'State', width: 120, cell: ({ state }) => <span className={deliveryStates[state]!.badge}>{deliveryStates[state]!.name}</span> },
  { key: 'attempts', name: 'Attempts', width: 100, kind: 'number', cell: ({ attempts }) => count(attempts) },
  { key: 'error', name: 'Problem', width: 230, cell: ({ lastError }) => lastError },
  { key: 'made', name: 'Made', width: 130, cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** What was sent, by mail and to webhooks, the newest first. */
export function Sent({ params }: { params: URLSearchParams }) {
  const state = sentStates.includes(params.get('state') ?? '') ? (params.get('state') as Row['state']) : undefined;
  const list = useList(query, { filter: { state: state && { eq: state } } }, ({ deliveries }) => deliveries);
  return (
    <Panel id="sent" title={list.total === undefined ? 'Sent' : `Sent: ${count(list.total)}`} aside={<button type="button" className="quiet" onClick={list.reload}>Look again</button>}>
      <nav className="switch" aria-label="States">
        {['', ...sentStates].map((key) => (
          <a key={key} href={to('recipients', changed(params, { state: key }))} aria-current={(state ?? '') === key ? 'true' : undefined}>{deliveryStates[key]?.name ?? 'All'}</a>
        ))}
      </nav>
      <Table label="Mails and messages" list={list} columns={columns} keyOf={({ id }) => id} none={<Empty>Nothing that fits was sent.</Empty>} />
    </Panel>
  );
}
