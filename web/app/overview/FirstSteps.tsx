import { type ReactNode, useState } from 'react';
import { graphql, type ResultOf } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Failure, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';

const query = graphql(`
  query FirstSteps {
    company { usageSources(first: 1) { nodes { source } } }
    subscribers(first: 1) { nodes { physicalId } }
    recipients(first: 1) { nodes { mails(limit: 1) { deliveryId } } totalCount }
    alerts(first: 0) { totalCount }
    users(first: 0) { totalCount }
    accessKeys(first: 0) { totalCount }
  }
`);
const test = graphql('mutation SendFirstTestAlert($input: SendTestAlertInput!) { sendTestAlert(input: $input) { mails { deliveryId } } }');

interface Step {
  name: string;
  done: boolean;
  what: ReactNode;
}

/** What leads from an empty company to the first alert mail. It stays until all is done, or until it is dismissed in this browser. */
export function FirstSteps() {
  const { company, email, isRestricted } = useViewer();
  const may = useMay('VIEW_SUBSCRIBER', 'MANAGE_INVENTORY', 'VIEW_STATISTICS_OVERVIEW', 'VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS', 'MANAGE_ACCESS_KEYS');
  const key = `simgraph:first-steps:${company.externalId}:${email}`;
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(key) !== null);
  const { data } = useAsk(may && !isRestricted && !dismissed ? query : null);
  if (!data) return null;
  const steps = stepsOf(data, company.externalId);
  const left = steps.filter(({ done }) => !done).length;
  if (left === 0) return null;
  const dismiss = () => {
    localStorage.setItem(key, '1');
    setDismissed(true);
  };
  return (
    <Panel id="first-steps" title="First steps" aside={<span className="row"><span className="hint">{steps.length - left} of {steps.length} done</span><button type="button" className="quiet" onClick={dismiss}>Dismiss</button></span>}>
      <ol className="steps checklist">
        {steps.map(({ name, done, what }) => (
          <li key={name} className={done ? 'done' : undefined}>
            <strong>{name}</strong> <span className={done ? 'badge good' : 'badge'}>{done ? 'done' : 'to do'}</span>
            {!done && <div>{what}</div>}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function stepsOf({ company, subscribers, recipients, alerts, users, accessKeys }: ResultOf<typeof query>, externalId: string): Step[] {
  const some = (list: { totalCount: number | null } | null | undefined, least = 1) => (list?.totalCount ?? 0) >= least;
  const physicalId = subscribers?.nodes[0]?.physicalId;
  return [
    {
      name: 'Bring SIMs in', done: physicalId !== undefined,
      what: <><a href={to('subscribers')}>Add subscribers</a> one by one, or on the host: <code>simgraph import fleet.ndjson</code>, whose lines name the company <code>{externalId}</code>.</>,
    }, {
      name: 'Feed usage', done: (company.usageSources?.nodes.length ?? 0) > 0,
      what: <><a href={to('connect')}>Connect</a> leads through it, <a href={to('sources')}>Sources</a> shows what arrives: by <code>POST /usage/records</code>, by RADIUS from network elements. {physicalId ? <>This sends a first record, with an access key in place of <code>TOKEN</code>:<Command text={recordOf(physicalId)} /></> : 'A first record can be sent once there is a SIM.'}</>,
    }, {
      name: 'Say who gets mail', done: some(recipients), what: <>Add the first address under <a href={to('recipients')}>Recipients</a>.</>,
    }, {
      name: 'Send a test mail', done: recipients?.nodes.some(({ mails }) => (mails?.length ?? 0) > 0) ?? false,
      what: some(recipients) ? <TestMail /> : 'It needs a recipient. A server without a mail server writes mails to files on its host.',
    }, {
      name: 'Set an alert', done: some(alerts), what: <>A <a href={to('newAlert')}>new alert</a> watches usage, <a href={to('conditions')}>conditions</a> watch silence and sudden changes.</>,
    }, {
      name: 'Invite a colleague', done: some(users, 2), what: <>Add them under <a href={to('users')}>Users</a>, with the groups that they see.</>,
    }, {
      name: 'Make a key for programs', done: some(accessKeys), what: <><a href={to('keys')}>Access keys</a> are made here; <a href="/docs/clients">Clients</a> shows programs.</>,
    },
  ];
}

function TestMail() {
  const send = useDo(async () => void (await mutate(test, { input: { all: true } })));
  return (
    <>
      <button type="button" disabled={send.busy} onClick={() => void send.run()}>Send a test mail</button> <span className="hint">Its state appears under <a href={to('recipients')}>Recipients</a>. A server without a mail server writes it to a file on its host.</span>
      {send.problem && <Failure problem={send.problem} />}
    </>
  );
}

/** A command that sends usage of the last minute. */
function recordOf(physicalId: string): string {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');
  const record = { source: 'test', recordId: 'first', physicalId, startedAt: at(1), endedAt: at(0), mobileOriginated: 1000, mobileTerminated: 2000 };
  return `curl ${location.origin}/usage/records -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/x-ndjson' -d '${JSON.stringify(record)}'`;
}

function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = useDo(async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  });
  return (
    <>
      <pre className="command" tabIndex={0}>{text}</pre>
      <button type="button" className="quiet" onClick={() => void copy.run()}>{copied ? 'Copied' : 'Copy'}</button>
      {copy.problem && <Failure problem={copy.problem} />}
    </>
  );
}
