import { useState } from 'react';
import { day } from '../format/time';
import { bytes, count, parseBytes, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { mutate, sendMutation, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { offerUndo } from '../shell/undo';
import { useMay, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import '../styles/lists.css';
import { AlertForm, type Input } from './AlertForm';
import { Entries } from './AlertLog';
import { SilenceButton, SilencedNow } from './SilenceHere';
import type { Place } from './silences';
import { Subject } from './Subject';
import { alertKey, nameOfAlert, rules } from './words';

const query = graphql(`
  query AlertOnPage($alertId: Int!, $names: Boolean!) {
    alert(alertId: $alertId) {
      alertId ruleType target lowerThreshold upperThreshold createdAt status numberExceeded
      subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
      subjects(limit: 25) {
        usage period { startsAt endsAt }
        subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
        lower { status percent since } upper { status percent since }
      }
    }
  }
`);
const edit = graphql('mutation EditAlertOnPage($input: EditAlertInput!) { editAlert(input: $input) { alert { alertId } } }');
const remove = graphql('mutation DeleteAlertOnPage($input: DeleteAlertInput!) { deleteAlert(input: $input) { alert { alertId } } }');

type Alert = NonNullable<ResultOf<typeof query>['alert']>;

/** One alert: its thresholds, where its subjects stand, and what it has fired. */
export default function AlertPage({ id }: { id: string }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const names = useMay('VIEW_SUBSCRIBER');
  const known = /^\d{1,9}$/.test(id);
  const { data, problem, reload } = useAsk(may && known ? query : null, { alertId: Number(id), names });
  const alert = data?.alert;
  return (
    <div className="page">
      <p className="crumbs"><a href={to('alerts')}>Alerts</a></p>
      {!may && <Empty>You need the permissions View Monitoring Alerts and View a User&apos;s Details to see alerts.</Empty>}
      {!known && <Empty>An alert has a number. <a href={to('alerts')}>All alerts</a></Empty>}
      {problem && <Failure problem={problem} retry={problem.code === 'FORBIDDEN' ? undefined : reload} more={<a href={to('alerts')}>All alerts</a>} />}
      {may && known && !alert && !problem && <Loading label="Reading the alert" />}
      {alert && <Whole alert={alert} />}
    </div>
  );
}

function Whole({ alert }: { alert: Alert }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const mayEdit = useMay('VIEW_MONITORING_ALERTS', 'EDIT_MONITORING_ALERTS');
  const mayTest = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  const mayDelete = useMay('VIEW_MONITORING_ALERTS', 'DELETE_MONITORING_ALERTS');
  const { alertId, ruleType, lowerThreshold, upperThreshold } = alert;
  useSystem();
  const place: Place = { kind: 'alert', name: nameOfAlert(alert), alertId };
  const save = useDo(async ({ lowerThreshold, upperThreshold }: Input) => {
    await mutate(edit, { input: { alertId, lowerThreshold, upperThreshold } });
    setOpen(null);
  });
  const drop = () => {
    setOpen(null);
    offerUndo({ hides: alertKey(alertId), text: 'The alert is deleted.', commit: () => sendMutation(remove, { input: { alertId } }, { keepalive: true }) });
    go(to('alerts'));
  };
  return (
    <>
      <div className="heading">
        <div>
          <h1><Subject {...alert} /></h1>
          <p className="hint">{rules[ruleType]} · alert {alertId} · made <Ago at={alert.createdAt} /></p>
        </div>
        <div className="row">
          <SilenceButton of={[place]} />
          {mayEdit && mayTest && <button type="button" aria-expanded={open === 'edit'} onClick={() => setOpen(open === 'edit' ? null : 'edit')}>Change the thresholds</button>}
          {mayDelete && <button type="button" className="danger" onClick={() => setOpen('delete')}>Delete</button>}
        </div>
      </div>
      <SilencedNow of={place} />
      <ul className="tiles three" aria-label="The alert in numbers">
        <Tile name="Lower threshold" text={bytes(lowerThreshold)} />
        <Tile name="Upper threshold" text={bytes(upperThreshold)} />
        <li className="tile"><a href={to('alertLog', { alert: String(alertId) })}><span className="tile-name">Fired this period</span><strong>{alert.numberExceeded === null ? '–' : count(alert.numberExceeded)}</strong><span className="hint">{alert.status === 'EXCEEDED' ? 'exceeded' : 'armed'}</span></a></li>
      </ul>
      {open === 'edit' && (
        <Panel id="edit" title="Change the thresholds">
          <AlertForm fixed start={{ ruleType, target: alert.target, lower: written(lowerThreshold), upper: written(upperThreshold) }} verb="Save" save={save} cancel={<button type="button" onClick={() => setOpen(null)}>Cancel</button>} />
        </Panel>
      )}
      <Subjects of={alert} />
      <Entries params={new URLSearchParams({ alert: String(alertId) })} />
      {open === 'delete' && (
        <Dialog title="Delete this alert?" cancel={() => setOpen(null)}>
          <p>Nobody gets mail any more when usage is above {bytes(lowerThreshold)} or {bytes(upperThreshold)}. What has fired stays in the log.</p>
          <p className="actions">
            <button type="button" autoFocus onClick={() => setOpen(null)}>Keep it</button>
            <button type="button" className="danger" onClick={drop}>Delete the alert</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** A threshold as it can be typed: with a unit where that is exact. */
function written(threshold: string): string {
  const text = bytes(threshold).replace('\u00a0', ' ');
  return parseBytes(text) === threshold ? text : threshold;
}

const Tile = ({ name, text }: { name: string; text: string }) => (
  <li className="tile"><div><span className="tile-name">{name}</span><strong>{text}</strong><span className="hint">in a billing period</span></div></li>
);

/** Where those whom the alert watches stand, the most usage first. */
function Subjects({ of: { subjects, ruleType, target } }: { of: Alert }) {
  const timeZone = useZone();
  const [first] = subjects ?? [];
  return (
    <Panel id="subjects" title="Where its subjects stand" aside={first && <span className="hint">since {day(first.period.startsAt, timeZone)}</span>}>
      {!subjects || subjects.length === 0 ? <Empty>None of them has used data in this billing period.</Empty> : (
        <ul className="watchers">
          {subjects.map(({ usage, subscriber, group, lower, upper }, i) => (
            <li key={i}>
              <div className="watcher-head"><strong><Subject ruleType={ruleType} target={target} subscriber={subscriber} group={group} /></strong><span className="hint">{bytes(usage)} this period</span></div>
              <Gauge name="Lower" of={lower} />
              <Gauge name="Upper" of={upper} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Gauge({ name, of: { status, percent, since } }: { name: string; of: NonNullable<Alert['subjects']>[number]['lower'] }) {
  const share = percent ?? (status === 'EXCEEDED' ? 100 : 0);
  return (
    <div className={`gauge ${status.toLowerCase()}`}>
      <span className="gauge-name">{name}</span>
      <span className="bar-track" aria-hidden="true"><i style={{ width: `${Math.min(100, share)}%` }} /></span>
      <span className="gauge-text">{status === 'EXCEEDED' ? <>exceeded {since && <Ago at={since} />}</> : `${Math.floor(share)}\u00a0%`}</span>
    </div>
  );
}
