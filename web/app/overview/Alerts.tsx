import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { kinds, limitOf } from '../alerts/conditions';
import { graphql } from '../graph/graphql';
import { sendMutation, useAsk } from '../graph/use';
import { ago } from '../format/time';
import { bytes, useSystem } from '../format/units';
import { Dialog } from '../shell/Dialog';
import { Close } from '../shell/icons';
import { Answered, Empty, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useMay } from '../shell/viewer';
import { SetAlert } from './SetAlert';
import type { Subscriber } from './subscriber';

interface Boundary {
  threshold: string;
  status: 'ARMED' | 'FIRED';
  percent: number | null;
  since: string | null;
}

interface State {
  alert: { alertId: number; name: string | null; kind: string; ruleType: string } & Partial<Parameters<typeof limitOf>[0]>;
  status: 'ARMED' | 'FIRED';
  since: string | null;
  /** Of an alert on volume. */
  usage?: string;
  lower?: Boundary;
  upper?: Boundary;
}

const query = graphql(`query AlertsOfSubscriber($physicalId: String!) {
  subscriber(by: {physicalId: $physicalId}) {
    alerts {
      status since
      alert { alertId name kind ruleType ... on ConditionAlert { silentHours sourceSilentMinutes sessionsPerHour forecastBytes changesOf } }
      ... on VolumeAlertState { usage lower { threshold status percent since } upper { threshold status percent since } }
    }
  }
}`);
const remove = graphql('mutation DeleteAlert($alertId: Int!) { deleteAlert(input: {alertId: $alertId}) { alert { alertId } } }');
const removeCondition = graphql('mutation DeleteConditionOfSubscriber($alertId: Int!) { deleteConditionAlert(input: {alertId: $alertId}) { alert { alertId } } }');

/** Where the subscriber stands against the alerts that watch it, and a new one. */
export function Alerts({ subscriber }: { subscriber: Subscriber }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const asked = useAsk(may ? query : null, { physicalId: subscriber.physicalId });
  const [setting, setSetting] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useSystem();
  const close = () => {
    flushSync(() => setSetting(false));
    opener.current?.focus();
  };
  const done = () => {
    close();
    asked.reload();
  };
  const mayAdd = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  return (
    <Panel id="alerts" title="Alerts" aside={mayAdd && !setting && <button ref={opener} type="button" onClick={() => setSetting(true)}>Set an alert</button>}>
      {setting && <SetAlert subscriberId={subscriber.subscriberId} done={done} cancel={close} />}
      {!may && <Empty>You need the permissions View Monitoring Alerts and View a User's Details to see alerts.</Empty>}
      {may && (
        <Answered asked={asked} of={({ subscriber }) => subscriber?.alerts} label="Reading alerts" rows={2}>
          {(alerts) => <Watchers alerts={alerts} />}
        </Answered>
      )}
    </Panel>
  );
}

const keyOf = (alertId: number) => `alert/${alertId}`;

/** The alerts but those being deleted. Deleting one needs a confirmation, and can be undone for some seconds. */
function Watchers({ alerts }: { alerts: State[] }) {
  const { hidden } = useUndo();
  const [dropping, setDropping] = useState<State | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const shown = alerts.filter(({ alert }) => !hidden.has(keyOf(alert.alertId)));
  const drop = ({ alert: { alertId, kind } }: State) => {
    flushSync(() => setDropping(null));
    list.current?.focus(); // the button that had the focus is about to go
    offerUndo({ hides: keyOf(alertId), text: 'The alert is deleted.', commit: () => sendMutation(kind === 'VOLUME' ? remove : removeCondition, { alertId }, { keepalive: true }) });
  };
  return (
    <>
      {shown.length === 0 && <Empty>No alert watches this subscriber.</Empty>}
      <ul className="watchers" ref={list} tabIndex={-1} aria-label="Alerts of the subscriber">
        {shown.map((state) => <Watcher key={state.alert.alertId} state={state} drop={() => setDropping(state)} />)}
      </ul>
      {dropping && (
        <Dialog title="Delete this alert?" cancel={() => setDropping(null)}>
          <p>{dropping.lower && dropping.upper ? `Nobody gets mail any more when this subscriber uses more than ${bytes(dropping.lower.threshold)} or ${bytes(dropping.upper.threshold)}.` : 'It reports nothing any more.'} What has fired stays in the log.</p>
          <p className="actions">
            <button type="button" autoFocus onClick={() => setDropping(null)}>Keep it</button>
            <button type="button" className="danger" onClick={() => drop(dropping)}>Delete the alert</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

const rules: Record<string, string> = { SIM: 'This subscriber', COMPANY: 'Each subscriber of the company', GROUPFPTP: 'Each subscriber of its group', GROUPPR: 'Its group together' };

function Watcher({ state, drop }: { state: State; drop: () => void }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'DELETE_MONITORING_ALERTS');
  const { alertId, name, kind, ruleType } = state.alert;
  return (
    <li>
      <div className="watcher-head">
        <strong><a href={to('alert', {}, String(alertId))}>{name ?? rules[ruleType] ?? ruleType}</a></strong>
        <span className="hint">{state.usage === undefined ? `${kinds[kind]}, ${limitOf(state.alert as Parameters<typeof limitOf>[0])}` : `${bytes(state.usage)} this period`}</span>
        <span className="grow" />
        {may && ruleType === 'SIM' && (
          <button type="button" className="icon" aria-label={`Delete alert ${alertId}`} title="Delete this alert" onClick={drop}>
            <Close />
          </button>
        )}
      </div>
      {state.lower && <Gauge name="Lower" boundary={state.lower} />}
      {state.upper && <Gauge name="Upper" boundary={state.upper} />}
      {kind !== 'VOLUME' && <p><span className={`badge ${state.status === 'FIRED' ? 'upper' : ''}`}>{state.status === 'FIRED' ? 'fired' : 'armed'}</span>{state.since && <span className="hint"> {ago(state.since)}</span>}</p>}
    </li>
  );
}

function Gauge({ name, boundary: { threshold, status, percent, since } }: { name: string; boundary: Boundary }) {
  const share = percent ?? (status === 'FIRED' ? 100 : 0);
  return (
    <div className={`gauge ${status.toLowerCase()}`}>
      <span className="gauge-name">{name} {bytes(threshold)}</span>
      <span className="bar-track" aria-hidden="true"><i style={{ width: `${Math.min(100, share)}%` }} /></span>
      <span className="gauge-text">{status === 'FIRED' ? `exceeded ${since ? ago(since) : ''}` : `${Math.floor(share)}\u00a0%`}</span>
    </div>
  );
}
