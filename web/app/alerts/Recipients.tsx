import { type FormEvent, useState } from 'react';
import { graphql, type ResultOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, sendMutation, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { Answered, Empty, Failure, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useMay, useViewer } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Frame } from './Frame';
import { Sent } from './Sent';
import { choiceOf, RecipientChoice } from './RecipientChoice';
import { mailBadge, mailStates, refused } from './words';

const query = graphql(`
  query Recipients($filter: RecipientFilter) {
    recipients(first: 100, filter: $filter) {
      nodes { recipientId version email alertIds groupIds suppressedSince suppressedReason suppressedDetail mails(limit: 3) { deliveryId kind state attempts createdAt lastError } }
    }
  }
`);
const create = graphql('mutation CreateRecipient($input: CreateRecipientInput!) { createRecipient(input: $input) { recipient { recipientId } } }');
const edit = graphql('mutation EditRecipient($input: EditRecipientInput!) { editRecipient(input: $input) { recipient { recipientId } } }');
const now = graphql('query AddressNow($recipientId: Int!) { recipient(by: {recipientId: $recipientId}) { version email } }');
const remove = graphql('mutation DeleteRecipient($input: DeleteRecipientInput!) { deleteRecipient(input: $input) { recipient { recipientId } } }');
const restore = graphql('mutation RestoreRecipientMail($input: RestoreRecipientInput!) { restoreRecipient(input: $input) { mails alerts } }');
const test = graphql('mutation SendTestAlert($input: SendTestAlertInput!) { sendTestAlert(input: $input) { mails { deliveryId } } }');

type Recipient = NonNullable<ResultOf<typeof query>['recipients']>['nodes'][number];
const keyOf = (recipientId: number) => `recipient/${recipientId}`;

/** Who gets mail when an alert fires. */
export default function Recipients({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const { isRestricted } = useViewer();
  if (!may || isRestricted) return <Frame current="recipients"><Empty>{isRestricted ? 'Recipients are for users of the whole company.' : "You need the permissions View Monitoring Alerts and View a User's Details to see recipients."}</Empty></Frame>;
  return <Frame current="recipients"><All some={params.get('refused') === '1'} /><Sent params={params} /></Frame>;
}

function All({ some }: { some: boolean }) {
  const asked = useAsk(query, { filter: some ? refused : undefined });
  const { hidden } = useUndo();
  const [sent, setSent] = useState(0);
  const toAll = useDo(async () => {
    const { sendTestAlert } = await mutate(test, { input: { all: true } });
    setSent(sendTestAlert?.mails.length ?? 0);
  });
  return (
    <Panel id="recipients" title="Recipients" aside={<button type="button" disabled={toAll.busy} onClick={() => void toAll.run()}>Send a test mail to all</button>}>
      <p className="hint">A new one gets every alert, until you choose some for it under Alerts. Each gets one mail for what fires together. A suppressed address gets none until it is restored.</p>
      <p className="hint" role="status" hidden={sent === 0}>{sent} test mail{sent === 1 ? ' is' : 's are'} on the way; its state appears below.</p>
      {toAll.problem && <Failure problem={toAll.problem} />}
      {some && <p className="notice">Only addresses that refused mail. <a href={to('recipients')}>Show all recipients</a></p>}
      <Add />
      <Answered asked={asked} of={({ recipients }) => recipients} label="Reading recipients">
        {({ nodes }) => {
          const shown = nodes.filter(({ recipientId }) => !hidden.has(keyOf(recipientId)));
          if (shown.length === 0) return some ? <Empty>No address refuses mail.</Empty> : <Empty>Nobody gets mail when an alert fires. Add the first address above.</Empty>;
          return <ul className="cards" aria-label="Recipients">{shown.map((one) => <One key={one.recipientId} of={one} />)}</ul>;
        }}
      </Answered>
    </Panel>
  );
}

function Add() {
  const [email, setEmail] = useState('');
  const add = useDo(async () => {
    await mutate(create, { input: { email: email.trim(), scope: { all: true } } });
    setEmail('');
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void add.run();
  };
  return (
    <form className="row narrow" onSubmit={submit}>
      <input type="email" aria-label="New recipient" placeholder="name@company.example" required value={email} onChange={(event) => setEmail(event.target.value)} />
      <button type="submit" className="primary" disabled={add.busy}>Add</button>
      {add.problem && <Failure problem={add.problem} />}
    </form>
  );
}

function One({ of: { recipientId, version, email, alertIds, groupIds, suppressedSince, suppressedReason, suppressedDetail, mails } }: { of: Recipient }) {
  const [open, setOpen] = useState<'edit' | 'choose' | 'delete' | null>(null);
  const send = useDo(async () => void (await mutate(test, { input: { recipientId } })));
  const again = useDo(async () => void (await mutate(restore, { input: { recipientId } })));
  const drop = () => {
    setOpen(null);
    offerUndo({ hides: keyOf(recipientId), text: `${email} gets no more mail.`, commit: () => sendMutation(remove, { input: { recipientId } }, { keepalive: true }) });
  };
  const problem = send.problem ?? again.problem;
  return (
    <li>
      <div className="card-head">
        <strong>{email}</strong>
        {suppressedSince && <span className="badge upper">suppressed</span>}
        <span className="grow" />
        {suppressedReason === 'REFUSED' && <button type="button" className="quiet" disabled={again.busy} onClick={() => void again.run()} aria-label={`Restore mail to ${email}`}>Restore</button>}
        <button type="button" className="quiet" disabled={send.busy} onClick={() => void send.run()} aria-label={`Send a test mail to ${email}`}>Test</button>
        <button type="button" className="quiet" onClick={() => setOpen('choose')} aria-label={`Choose alerts for ${email}`}>Alerts</button>
        <button type="button" className="quiet" onClick={() => setOpen('edit')} aria-label={`Change ${email}`}>Change</button>
        <button type="button" className="quiet" onClick={() => setOpen('delete')} aria-label={`Delete ${email}`}>Delete</button>
      </div>
      {suppressedSince && <p className="hint">{suppressedReason === 'UNSUBSCRIBED' ? 'The recipient unsubscribed' : `A mail server refused the address${suppressedDetail ? `: ${suppressedDetail}` : ''}`}, <Ago at={suppressedSince} />.</p>}
      {choiceOf(alertIds, groupIds) && <p className="hint">{choiceOf(alertIds, groupIds)}</p>}
      {problem && <Failure problem={problem} />}
      <ul className="plain-list" aria-label={`Mail to ${email}`}>
        {mails?.map(({ deliveryId, kind, state, createdAt, lastError }) => (
          <li key={deliveryId}><span className={mailBadge(state)}>{mailStates[state]}</span> <span className="hint">{kind === 'TEST' ? 'test mail' : 'alerts'}, <Ago at={createdAt} />{lastError && `: ${lastError}`}</span></li>
        ))}
        {mails?.length === 0 && <li className="hint">No mail yet.</li>}
      </ul>
      {open === 'choose' && <RecipientChoice recipientId={recipientId} version={version} email={email} alertIds={alertIds} groupIds={groupIds} close={() => setOpen(null)} />}
      {open === 'edit' && <Change recipientId={recipientId} version={version} email={email} close={() => setOpen(null)} />}
      {open === 'delete' && (
        <Dialog title="Delete this recipient?" cancel={() => setOpen(null)}>
          <p>{email} gets no mail any more when alerts fire.</p>
          <p className="actions">
            <button type="button" autoFocus onClick={() => setOpen(null)}>Keep it</button>
            <button type="button" className="danger" onClick={drop}>Delete the recipient</button>
          </p>
        </Dialog>
      )}
    </li>
  );
}

function Change({ recipientId, version, email, close }: { recipientId: number; version: string; email: string; close: () => void }) {
  const [text, setText] = useState(email);
  const made = useMadeFrom({ version, email }, async () => (await readNow(now, { recipientId })).recipient, { email: setText });
  const save = useDo(async () => {
    await made.send((expectedVersion) => mutate(edit, { input: { recipientId, expectedVersion, email: text.trim() } }));
    close();
  });
  return (
    <Dialog title="Change the address" cancel={close}>
      <form className="stacked" onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        <input type="email" aria-label="Address" required autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        <EditFailure save={save} of={made} subject={['Recipient', String(recipientId)]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy}>Save</button>
        </p>
      </form>
    </Dialog>
  );
}
