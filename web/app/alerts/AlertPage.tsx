import { type FormEvent, useState } from 'react';
import { day } from '../format/time';
import { bytes, count, parseBytes, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, sendMutation, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { offerUndo } from '../shell/undo';
import { useUnsaved } from '../shell/unsaved';
import { useMay, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import '../styles/lists.css';
import { AlertForm, type Input, type Words, WordsInput } from './AlertForm';
import { Entries } from './AlertLog';
import { alertName, kinds, limitOf, nameOfAlert } from './conditions';
import { SilenceButton, SilencedNow } from './SilenceHere';
import type { Place } from './silences';
import { Subject } from './Subject';
import { alertKey, rules } from './words';

const query = graphql(`
  query AlertOnPage($alertId: Int!, $names: Boolean!) {
    alert(by: { alertId: $alertId }) {
      ...AlertName alertId version description createdAt status numberFired
      subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
      ... on VolumeAlert {
        subjects(limit: 25) {
          usage period { startsAt endsAt }
          subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
          lower { status percent since } upper { status percent since }
        }
      }
    }
  }
`, [alertName]);
const edit = graphql('mutation EditAlertOnPage($input: EditAlertInput!) { editAlert(input: $input) { alert { alertId } } }');
const editWords = graphql('mutation EditConditionOnPage($input: EditConditionAlertInput!) { editConditionAlert(input: $input) { alert { alertId } } }');
const now = graphql(`query AlertNow($alertId: Int!) {
  alert(by: {alertId: $alertId}) { version name description ... on VolumeAlert { lowerThreshold upperThreshold } }
}`);
const remove = graphql('mutation DeleteAlertOnPage($input: DeleteAlertInput!) { deleteAlert(input: $input) { alert { alertId } } }');
const removeCondition = graphql('mutation DeleteConditionOnPage($input: DeleteConditionAlertInput!) { deleteConditionAlert(input: $input) { alert { alertId } } }');

type Alert = NonNullable<ResultOf<typeof query>['alert']>;
type VolumeAlert = Extract<Alert, { __typename: 'VolumeAlert' }>;
type ConditionAlert = Extract<Alert, { __typename: 'ConditionAlert' }>;

/** One alert, on volume or on a condition: what it notices, where its subjects stand, and what it has fired. */
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
      {may && known && !data && !problem && <Loading label="Reading the alert" />}
      {data && !alert && !problem && <Empty>There is no alert {id}. <a href={to('alerts')}>All alerts</a></Empty>}
      {alert && <Whole alert={alert} />}
    </div>
  );
}

function Whole({ alert }: { alert: Alert }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const mayEdit = useMay('VIEW_MONITORING_ALERTS', 'EDIT_MONITORING_ALERTS');
  const mayTest = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  const mayDelete = useMay('VIEW_MONITORING_ALERTS', 'DELETE_MONITORING_ALERTS');
  const { alertId, name, description, ruleType } = alert;
  const onVolume = alert.__typename === 'VolumeAlert';
  useSystem();
  const place: Place = { kind: 'alert', name: nameOfAlert(alert), alertId };
  const close = () => setOpen(null);
  const drop = () => {
    close();
    const commit = () => (onVolume ? sendMutation(remove, { input: { alertId } }, { keepalive: true }) : sendMutation(removeCondition, { input: { alertId } }, { keepalive: true }));
    offerUndo({ hides: alertKey(alertId), text: 'The alert is deleted.', commit });
    go(to('alerts'));
  };
  return (
    <>
      <div className="heading">
        <div>
          <h1>{name ?? <Subject {...alert} />}</h1>
          {description && <p>{description}</p>}
          <p className="hint">{name !== null && <><Subject {...alert} /> · </>}{rules[ruleType]} · alert {alertId} · made <Ago at={alert.createdAt} /></p>
        </div>
        <div className="row">
          <SilenceButton of={[place]} />
          {mayEdit && (mayTest || !onVolume) && <button type="button" aria-expanded={open === 'edit'} onClick={() => setOpen(open === 'edit' ? null : 'edit')}>{onVolume ? 'Change the thresholds' : 'Change the name'}</button>}
          {mayDelete && <button type="button" className="danger" onClick={() => setOpen('delete')}>Delete</button>}
        </div>
      </div>
      <SilencedNow of={place} />
      <Tiles of={alert} />
      {open === 'edit' && (onVolume ? <EditVolume of={alert} close={close} /> : <EditWords of={alert} close={close} />)}
      {onVolume && <Subjects of={alert} />}
      <Entries params={new URLSearchParams({ alert: String(alertId) })} />
      {open === 'delete' && (
        <Dialog title="Delete this alert?" cancel={close}>
          <p>{onVolume ? `Nobody gets mail any more when usage is above ${bytes(alert.lowerThreshold)} or ${bytes(alert.upperThreshold)}.` : 'It reports nothing any more.'} What has fired stays in the log.</p>
          <p className="actions">
            <button type="button" autoFocus onClick={close}>Keep it</button>
            <button type="button" className="danger" onClick={drop}>Delete the alert</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

function Tiles({ of }: { of: Alert }) {
  const fired = (
    <li className="tile"><a href={to('alertLog', { alert: String(of.alertId) })}><span className="tile-name">Fired this period</span><strong>{of.numberFired === null ? '–' : count(of.numberFired)}</strong><span className="hint">{of.status === 'FIRED' ? 'fired' : 'armed'}</span></a></li>
  );
  if (of.__typename === 'VolumeAlert') {
    return (
      <ul className="tiles three" aria-label="The alert in numbers">
        <Tile name="Lower threshold" text={bytes(of.lowerThreshold)} hint="in a billing period" />
        <Tile name="Upper threshold" text={bytes(of.upperThreshold)} hint="in a billing period" />
        {fired}
      </ul>
    );
  }
  return <ul className="tiles three" aria-label="The alert in numbers"><Tile name="Notices" text={kinds[of.kind] ?? of.kind} hint={limitOf(of)} />{fired}</ul>;
}

interface EditProps<Of> {
  of: Of;
  close: () => void;
}

function EditVolume({ of, close }: EditProps<VolumeAlert>) {
  const { alertId, ruleType, target } = of;
  const [{ round, ...start }, setStart] = useState({ round: 0, lowerThreshold: of.lowerThreshold, upperThreshold: of.upperThreshold, name: of.name, description: of.description });
  // The form begins anew with what was typed, and what somebody else has changed.
  const put = (part: Partial<typeof start>) => setStart((before) => ({ ...before, ...part, round: before.round + 1 }));
  const made = useMadeFrom(of, async () => (await readNow(now, { alertId })).alert as Partial<VolumeAlert> | null, {
    lowerThreshold: (theirs) => put({ lowerThreshold: theirs }), upperThreshold: (theirs) => put({ upperThreshold: theirs }), name: (theirs) => put({ name: theirs }), description: (theirs) => put({ description: theirs }),
  });
  const save = useDo(async ({ lowerThreshold, upperThreshold, name, description }: Input & Words) => {
    const typed = { lowerThreshold, upperThreshold, name, description };
    setStart((before) => ({ ...before, ...typed }));
    await made.send((expectedVersion) => mutate(edit, { input: { alertId, expectedVersion, ...typed } }));
    close();
  });
  return (
    <Panel id="edit" title="Change the thresholds">
      <AlertForm key={round} fixed start={{ ruleType, target: target ?? '', lower: written(start.lowerThreshold), upper: written(start.upperThreshold), words: { name: start.name, description: start.description } }} verb="Save" save={save} failure={<EditFailure save={save} of={made} subject={['Alert', String(alertId)]} />} cancel={<button type="button" onClick={close}>Cancel</button>} />
    </Panel>
  );
}

function EditWords({ of, close }: EditProps<ConditionAlert>) {
  const { alertId, name, description } = of;
  const [words, setWords] = useState<Words>({ name, description });
  const made = useMadeFrom(of, async () => (await readNow(now, { alertId })).alert as Partial<ConditionAlert> | null, {
    name: (theirs) => setWords((words) => ({ ...words, name: theirs })), description: (theirs) => setWords((words) => ({ ...words, description: theirs })),
  });
  useUnsaved(words.name !== name || words.description !== description);
  const save = useDo(async () => {
    await made.send((expectedVersion) => mutate(editWords, { input: { alertId, expectedVersion, ...words } }));
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Panel id="edit" title="Change the name">
      <form className="alert-form" onSubmit={submit}>
        <WordsInput of={words} change={setWords} />
        <EditFailure save={save} of={made} subject={['Alert', String(alertId)]} />
        <p className="actions">
          <button type="submit" className="primary" disabled={save.busy}>Save</button>
          <button type="button" onClick={close}>Cancel</button>
        </p>
      </form>
    </Panel>
  );
}

/** A threshold as it can be typed: with a unit where that is exact. */
function written(threshold: string): string {
  const text = bytes(threshold).replace('\u00a0', ' ');
  return parseBytes(text) === threshold ? text : threshold;
}

const Tile = ({ name, text, hint }: { name: string; text: string; hint: string }) => (
  <li className="tile"><div><span className="tile-name">{name}</span><strong>{text}</strong><span className="hint">{hint}</span></div></li>
);

/** Where those whom the alert watches stand, the most usage first. */
function Subjects({ of: { subjects, ruleType, target } }: { of: VolumeAlert }) {
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

function Gauge({ name, of: { status, percent, since } }: { name: string; of: NonNullable<VolumeAlert['subjects']>[number]['lower'] }) {
  const share = percent ?? (status === 'FIRED' ? 100 : 0);
  return (
    <div className={`gauge ${status.toLowerCase()}`}>
      <span className="gauge-name">{name}</span>
      <span className="bar-track" aria-hidden="true"><i style={{ width: `${Math.min(100, share)}%` }} /></span>
      <span className="gauge-text">{status === 'FIRED' ? <>exceeded {since && <Ago at={since} />}</> : `${Math.floor(share)}\u00a0%`}</span>
    </div>
  );
}
