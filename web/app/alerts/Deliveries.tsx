import { useState } from 'react';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { mutate, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure, Panel } from '../shell/parts';
import { changed, go, to } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { type Column, Table } from '../ui/Table';
import type { Webhook } from './Webhooks';
import { deliveryStates } from './webhooks';

const query = graphql(`
  query DeliveryTable($first: Int, $after: String, $count: Boolean!, $filter: WebhookDeliveryFilter) {
    webhookDeliveries(first: $first, after: $after, filter: $filter) {
      nodes { deliveryId eventType state attempts createdAt nextAttemptAt finishedAt lastStatus lastAnswer lastError payload webhook { webhookId name } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const replay = graphql('mutation ReplayDelivery($input: ReplayWebhookDeliveryInput!) { replayWebhookDelivery(input: $input) { delivery { deliveryId } } }');

type Row = NonNullable<ResultOf<typeof query>['webhookDeliveries']>['nodes'][number];
type State = Row['state'];
const states = ['QUEUED', 'DELIVERED', 'FAILED'];

/** The messages to webhooks, the newest first. */
export function Deliveries({ params, webhooks }: { params: URLSearchParams; webhooks: readonly Webhook[] }) {
  const hook = params.get('hook') ?? '';
  const state = states.includes(params.get('state') ?? '') ? (params.get('state') as State) : undefined;
  const filter = { webhookId: /^\d{1,9}$/.test(hook) ? { eq: hook } : undefined, state: state && { eq: state } };
  const list = useList(query, { filter }, ({ webhookDeliveries }) => webhookDeliveries);
  const [shown, setShown] = useState<Row | null>(null);
  const columns: Column<Row>[] = [
    { key: 'event', name: 'Event', width: 200, cell: ({ eventType }) => eventType },
    { key: 'webhook', name: 'Webhook', width: 200, cell: ({ webhook }) => webhook?.name },
    { key: 'state', name: 'State', width: 120, cell: ({ state }) => <span className={deliveryStates[state]!.badge}>{deliveryStates[state]!.name}</span> },
    { key: 'attempts', name: 'Attempts', width: 100, kind: 'number', cell: ({ attempts }) => count(attempts) },
    { key: 'answer', name: 'Last answer', width: 230, cell: answerOf },
    { key: 'made', name: 'Made', width: 130, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { key: 'show', name: 'Show', width: 90, cell: (row) => <button type="button" className="bare link" aria-label={`Show message ${row.deliveryId}`} onClick={() => setShown(row)}>Show</button> },
  ];
  return (
    <Panel id="deliveries" title={list.total === undefined ? 'Messages' : `${count(list.total)} message${list.total === 1 ? '' : 's'}`} aside={<button type="button" className="quiet" onClick={list.reload}>Look again</button>}>
      <div className="row">
        <label className="inline">Webhook
          <select aria-label="Webhook" value={hook} onChange={(event) => go(to('webhooks', changed(params, { hook: event.target.value })))}>
            <option value="">All</option>
            {webhooks.map(({ webhookId, name }) => <option key={webhookId} value={webhookId}>{name}</option>)}
          </select>
        </label>
        <nav className="switch" aria-label="States">
          {['', ...states].map((key) => (
            <a key={key} href={to('webhooks', changed(params, { state: key }))} aria-current={(state ?? '') === key ? 'true' : undefined}>{deliveryStates[key]?.name ?? 'All'}</a>
          ))}
        </nav>
      </div>
      <Table label="Messages to webhooks" list={list} columns={columns} keyOf={({ deliveryId }) => deliveryId} none={<Empty>No message fits.</Empty>} />
      {shown && <Message of={shown} close={() => setShown(null)} />}
    </Panel>
  );
}

function answerOf({ lastStatus, lastError }: Row): string {
  if (lastError) return lastError;
  return lastStatus === null ? '' : String(lastStatus);
}

/** What was sent, and how it was answered. */
function Message({ of, close }: { of: Row; close: () => void }) {
  const mayReplay = useMay('EDIT_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const again = useDo(async () => {
    await mutate(replay, { input: { deliveryId: of.deliveryId } });
    close();
  });
  return (
    <Dialog title={of.eventType} cancel={close}>
      <dl className="facts">
        <div><dt>Id</dt><dd className="mono">{of.deliveryId}</dd></div>
        <div><dt>State</dt><dd>{deliveryStates[of.state]!.name}, {count(of.attempts)} attempt{of.attempts === 1 ? '' : 's'}</dd></div>
        {of.nextAttemptAt && <div><dt>Next attempt</dt><dd><Ago at={of.nextAttemptAt} /></dd></div>}
        {of.finishedAt && <div><dt>Finished</dt><dd><Ago at={of.finishedAt} /></dd></div>}
        {of.lastStatus !== null && <div><dt>Status</dt><dd>{of.lastStatus}</dd></div>}
        {of.lastError && <div><dt>Problem</dt><dd>{of.lastError}</dd></div>}
        {of.lastAnswer && <div><dt>Answer</dt><dd className="mono">{of.lastAnswer}</dd></div>}
      </dl>
      <pre className="payload" tabIndex={0} aria-label="Payload">{pretty(of.payload ?? '')}</pre>
      {again.problem && <Failure problem={again.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Close</button>
        {mayReplay && <button type="button" className="primary" disabled={again.busy} onClick={() => void again.run()}>Send it again</button>}
      </p>
    </Dialog>
  );
}

/** The text with the line breaks of JSON, where it is JSON. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
