import { useState } from 'react';
import { atWallClock, wallClock } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { type Asked, mutate, sendMutation, useAsk, useDo } from '../graph/use';
import { MomentField } from '../picker/Date';
import { Dialog } from '../shell/Dialog';
import { Answered, Empty, Failure, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useMay, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Secret } from '../ui/Secret';
import { Deliveries } from './Deliveries';
import { Frame } from './Frame';
import { WebhookForm } from './WebhookForm';
import { disabledReasons, events, failing, formats } from './webhooks';

const query = graphql(`
  query Webhooks($filter: WebhookFilter) {
    webhooks(first: 100, filter: $filter) {
      nodes { webhookId version name url format eventTypes alertIds groupIds tagNames disabledAt disabledReason failingSince pausedUntil previousSecretUntil }
    }
  }
`);
const test = graphql('mutation TestWebhook($input: TestWebhookInput!) { testWebhook(input: $input) { delivery { deliveryId } } }');
const enable = graphql('mutation EnableWebhook($input: EnableWebhookInput!) { enableWebhook(input: $input) { webhook { webhookId } } }');
const disable = graphql('mutation DisableWebhook($input: DisableWebhookInput!) { disableWebhook(input: $input) { webhook { webhookId } } }');
const rotate = graphql('mutation RotateWebhookSecret($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { secret } }');
const replay = graphql('mutation ReplaySince($input: ReplayWebhookDeliveriesSinceInput!) { replayWebhookDeliveriesSince(input: $input) { replayed } }');
const remove = graphql('mutation DeleteWebhook($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { webhook { webhookId } } }');

export type Webhook = NonNullable<ResultOf<typeof query>['webhooks']>['nodes'][number];
const keyOf = (webhookId: number) => `webhook/${webhookId}`;

/** The endpoints that events are sent to, and the messages to them. */
export default function Webhooks({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_MONITORING_ALERTS');
  const mayRead = useMay('VIEW_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const some = params.get('failing') === '1';
  const asked = useAsk(may ? query : null, { filter: some ? failing : undefined });
  if (!may) return <Frame current="webhooks"><Empty>You need the permission View Monitoring Alerts to see webhooks.</Empty></Frame>;
  return (
    <Frame current="webhooks">
      <All asked={asked} some={some} />
      {mayRead && <Deliveries params={params} webhooks={(asked.data ?? asked.former)?.webhooks?.nodes ?? []} />}
    </Frame>
  );
}

function All({ asked, some }: { asked: Asked<ResultOf<typeof query>>; some: boolean }) {
  const mayAdd = useMay('ADD_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const { hidden } = useUndo();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<{ name: string; secret: string } | null>(null);
  const show = (name: string, secret: string) => setMade({ name, secret });
  return (
    <>
      {made && <Secret title={`The secret of ${made.name}`} facts={{ Secret: made.secret }} copies="Copy" close={() => setMade(null)} />}
      <Panel id="webhooks" title="Webhooks" aside={mayAdd && <button type="button" onClick={() => setMaking(true)}>New webhook</button>}>
        <p className="hint">Events are sent by HTTP, signed, and again until they are answered by 2xx. At most 20 to a company.</p>
        {some && <p className="notice">Only those that fail. <a href={to('webhooks')}>Show all webhooks</a></p>}
        <Answered asked={asked} of={({ webhooks }) => webhooks} label="Reading webhooks">
          {({ nodes }) => {
            const shown = nodes.filter(({ webhookId }) => !hidden.has(keyOf(webhookId)));
            if (shown.length === 0) return some ? <Empty>No webhook fails.</Empty> : <Empty>No program, channel or team is notified yet. Add the first by New webhook.</Empty>;
            return <ul className="cards" aria-label="Webhooks">{shown.map((one) => <One key={one.webhookId} of={one} show={show} />)}</ul>;
          }}
        </Answered>
        {making && <WebhookForm close={() => setMaking(false)} created={show} />}
      </Panel>
    </>
  );
}

function One({ of, show }: { of: Webhook; show: (name: string, secret: string) => void }) {
  const { webhookId, name, url, format, disabledAt, previousSecretUntil } = of;
  const mayEdit = useMay('EDIT_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const mayDelete = useMay('DELETE_MONITORING_ALERTS');
  const [open, setOpen] = useState<'edit' | 'rotate' | 'replay' | 'delete' | null>(null);
  const [sent, setSent] = useState('');
  const close = () => setOpen(null);
  const tried = useDo(async () => {
    await mutate(test, { input: { webhookId } });
    setSent('A test event is on the way.');
  });
  const turned = useDo(async () => void (await (disabledAt ? mutate(enable, { input: { webhookId } }) : mutate(disable, { input: { webhookId } }))));
  const rotated = useDo(async () => {
    const { rotateWebhookSecret } = await mutate(rotate, { input: { webhookId } });
    close();
    if (rotateWebhookSecret) show(name, rotateWebhookSecret.secret);
  });
  const drop = () => {
    close();
    offerUndo({ hides: keyOf(webhookId), text: `${name} gets no more events.`, commit: () => sendMutation(remove, { input: { webhookId } }, { keepalive: true }) });
  };
  const problem = tried.problem ?? turned.problem;
  return (
    <li>
      <div className="card-head">
        <strong>{name}</strong>
        <span className="badge">{formats[format]}</span>
        <State of={of} />
        <span className="grow" />
        {mayEdit && <button type="button" className="quiet" disabled={tried.busy || disabledAt !== null} onClick={() => void tried.run()} aria-label={`Test ${name}`}>Test</button>}
        {mayEdit && <button type="button" className="quiet" onClick={() => setOpen('edit')} aria-label={`Change ${name}`}>Change</button>}
        {mayEdit && <button type="button" className="quiet" onClick={() => setOpen('rotate')} aria-label={`New secret of ${name}`}>New secret</button>}
        {mayEdit && <button type="button" className="quiet" onClick={() => setOpen('replay')} aria-label={`Send again to ${name}`}>Send again</button>}
        {mayEdit && <button type="button" className="quiet" disabled={turned.busy} onClick={() => void turned.run()} aria-label={`${disabledAt ? 'Enable' : 'Disable'} ${name}`}>{disabledAt ? 'Enable' : 'Disable'}</button>}
        {mayDelete && <button type="button" className="quiet" onClick={() => setOpen('delete')} aria-label={`Delete ${name}`}>Delete</button>}
      </div>
      <p className="hint"><code>{url}</code></p>
      <p className="hint">{gotten(of)} {previousSecretUntil && Date.parse(previousSecretUntil) > Date.now() && <>Messages are signed with the secret before, too, until it ends <Ago at={previousSecretUntil} />.</>}</p>
      <p className="hint" role="status" hidden={sent === ''}>{sent} <a href={to('webhooks', { hook: String(webhookId) })}>Its messages are below.</a></p>
      {problem && <Failure problem={problem} />}
      {open === 'edit' && <WebhookForm of={of} close={close} created={show} />}
      {open === 'replay' && <Replay of={of} close={close} done={setSent} />}
      {open === 'rotate' && (
        <Dialog title="Make a new secret?" cancel={close}>
          <p>It is shown once. For 24 hours messages are signed with the present one, too.</p>
          {rotated.problem && <Failure problem={rotated.problem} />}
          <p className="actions">
            <button type="button" autoFocus onClick={close}>Keep the present one</button>
            <button type="button" className="primary" disabled={rotated.busy} onClick={() => void rotated.run()}>Make a new secret</button>
          </p>
        </Dialog>
      )}
      {open === 'delete' && (
        <Dialog title="Delete this webhook?" cancel={close}>
          <p>{name} gets no events any more. Its messages are deleted, too.</p>
          <p className="actions">
            <button type="button" autoFocus onClick={close}>Keep it</button>
            <button type="button" className="danger" onClick={drop}>Delete the webhook</button>
          </p>
        </Dialog>
      )}
    </li>
  );
}

function State({ of: { disabledAt, disabledReason, failingSince, pausedUntil } }: { of: Webhook }) {
  if (disabledAt) return <><span className="badge upper">disabled</span><span className="hint">{disabledReason && disabledReasons[disabledReason]}</span></>;
  if (failingSince) return <><span className="badge lower">failing</span><span className="hint">First <Ago at={failingSince} />. It is disabled after five days.</span></>;
  if (pausedUntil && Date.parse(pausedUntil) > Date.now()) return <><span className="badge">paused</span><span className="hint">It asked to be called later.</span></>;
  return <span className="badge good">active</span>;
}

/** What a webhook gets, in words. */
function gotten({ eventTypes, alertIds, groupIds, tagNames }: Webhook): string {
  const some = (n: number, noun: string) => n > 0 && `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
  const parts = [some(alertIds.length, 'alert'), some(groupIds.length, 'group'), some(tagNames.length, 'tag')].filter(Boolean);
  return `${eventTypes.map((one) => events[one]).join(', ')}${parts.length > 0 ? `: of ${parts.join(' and ')}` : ''}.`;
}

/** Sends the messages of a webhook again that were made since a time. */
function Replay({ of: { webhookId, name }, close, done }: { of: Webhook; close: () => void; done: (text: string) => void }) {
  const timeZone = useZone();
  const [since, setSince] = useState(() => wallClock(Date.now() - 86_400_000, timeZone));
  const at = atWallClock(since, timeZone);
  const run = useDo(async () => {
    const { replayWebhookDeliveriesSince } = await mutate(replay, { input: { webhookId, since: new Date(at).toISOString() } });
    const n = replayWebhookDeliveriesSince?.replayed ?? 0;
    done(`${count(n)} message${n === 1 ? ' is' : 's are'} sent again.`);
    close();
  });
  return (
    <Dialog title={`Send messages to ${name} again`} cancel={close}>
      <form className="stacked" onSubmit={(event) => { event.preventDefault(); void run.run(); }}>
        <MomentField label="Those made since" autoFocus isRequired value={since} change={setSince} />
        <p className="hint">By the clocks of {timeZone}. Each goes under its id, so that a receiver knows it; the oldest 10,000 at most.</p>
        {run.problem && <Failure problem={run.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={run.busy || Number.isNaN(at)}>Send again</button>
        </p>
      </form>
    </Dialog>
  );
}
