import { useState } from 'react';
import { ask } from '../graph/client';
import { useAsk, useDo } from '../graph/use';
import { ago } from '../format/time';
import { bytes, useSystem } from '../format/units';
import { Close } from '../shell/icons';
import { Answered, Empty, Failure, Panel } from '../shell/parts';
import { useMay } from '../shell/viewer';
import { SetAlert } from './SetAlert';
import type { Subscriber } from './subscriber';

interface Boundary {
  threshold: string;
  status: 'ARMED' | 'EXCEEDED';
  percent: number | null;
  since: string | null;
}

interface State {
  alert: { alertId: number; ruleType: string };
  usage: string;
  lower: Boundary;
  upper: Boundary;
}

const boundary = 'threshold status percent since';
const query = `query AlertsOfSubscriber($physicalId: String!) {
  subscriber(physicalId: $physicalId) { alerts { alert { alertId ruleType } usage lower { ${boundary} } upper { ${boundary} } } }
}`;
const remove = 'mutation DeleteAlert($alertId: Int!) { deleteAlert(alertId: $alertId) { alert { alertId } } }';

/** Where the subscriber stands against the alerts that watch it, and a new one. */
export function Alerts({ subscriber }: { subscriber: Subscriber }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const mayAdd = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  const asked = useAsk<{ subscriber: { alerts: State[] } }>(may ? query : null, { physicalId: subscriber.physicalId });
  const [setting, setSetting] = useState(false);
  const drop = useDo(async (alertId: number) => {
    await ask(remove, { alertId });
    asked.reload();
  });
  useSystem();
  const set = () => {
    setSetting(false);
    asked.reload();
  };
  return (
    <Panel id="alerts" title="Alerts" aside={mayAdd && !setting && <button type="button" onClick={() => setSetting(true)}>Set an alert</button>}>
      {setting && <SetAlert subscriberId={subscriber.subscriberId} done={set} cancel={() => setSetting(false)} />}
      {!may && <Empty>You need the permissions View Monitoring Alerts and View a User's Details to see alerts.</Empty>}
      {may && (
        <Answered asked={asked} label="Reading alerts" rows={2}>
          {({ subscriber: { alerts } }) =>
            alerts.length === 0 ? <Empty>No alert watches this subscriber.</Empty> : <ul className="watchers">{alerts.map((state) => <Watcher key={state.alert.alertId} state={state} drop={(id) => void drop.run(id)} />)}</ul>
          }
        </Answered>
      )}
      {drop.problem && <Failure problem={drop.problem} />}
    </Panel>
  );
}

const rules: Record<string, string> = { SIM: 'This subscriber', COMPANY: 'Each subscriber of the company', GROUPFPTP: 'Each subscriber of its group', GROUPPR: 'Its group together' };

function Watcher({ state, drop }: { state: State; drop: (alertId: number) => void }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'DELETE_MONITORING_ALERTS');
  const { alertId, ruleType } = state.alert;
  return (
    <li>
      <div className="watcher-head">
        <strong>{rules[ruleType] ?? ruleType}</strong>
        <span className="hint">{bytes(state.usage)} this period</span>
        <span className="grow" />
        {may && ruleType === 'SIM' && (
          <button type="button" className="icon" aria-label={`Delete alert ${alertId}`} title="Delete this alert" onClick={() => drop(alertId)}>
            <Close />
          </button>
        )}
      </div>
      <Gauge name="Lower" boundary={state.lower} />
      <Gauge name="Upper" boundary={state.upper} />
    </li>
  );
}

function Gauge({ name, boundary: { threshold, status, percent, since } }: { name: string; boundary: Boundary }) {
  const share = percent ?? (status === 'EXCEEDED' ? 100 : 0);
  return (
    <div className={`gauge ${status.toLowerCase()}`}>
      <span className="gauge-name">{name} {bytes(threshold)}</span>
      <span className="bar-track" aria-hidden="true"><i style={{ width: `${Math.min(100, share)}%` }} /></span>
      <span className="gauge-text">{status === 'EXCEEDED' ? `exceeded ${since ? ago(since) : ''}` : `${Math.floor(share)}\u00a0%`}</span>
    </div>
  );
}
