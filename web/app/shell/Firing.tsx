import { Suspense, useEffect, useState } from 'react';
import { alertName, nameOfAlert } from '../alerts/conditions';
import { SilenceDialog, useMaySilence } from '../alerts/SilenceHere';
import type { Place } from '../alerts/silences';
import { graphql, type ResultOf } from '../graph/graphql';
import { count, useSystem } from '../format/units';
import { useAsk } from '../graph/use';
import { Ago } from '../ui/Ago';
import { Popover } from '../ui/Popover';
import { Bell } from './icons';
import { Failure } from './parts';
import { to, toSubscriber } from './route';
import { useMay, useViewer } from './viewer';

const entry = graphql(`
  fragment EntryOfBell on AlertLogEntry {
    id alertId text target isSilenced createdAt subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name }
    ... on ConditionLogEntry { source }
    alert @include(if: $alerts) {
      ...AlertName subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { name }
    }
  }
`, [alertName]);
const query = graphql(`
  query FiringNow($since: DateTime!, $names: Boolean!, $alerts: Boolean!, $silences: Boolean!) {
    lasting: alertLog(first: 5, filter: { isOpen: { eq: true } }) { nodes { ...EntryOfBell } totalCount }
    fired: alertLog(first: 5, filter: { createdAt: { ge: $since }, state: { eq: FIRED }, isOpen: { eq: false } }) { nodes { ...EntryOfBell } totalCount }
    silences(first: 100, filter: { isEnded: { eq: false } }) @include(if: $silences) { nodes { isActive } }
  }
`, [entry]);

type Answer = ResultOf<typeof query>;
const minute = 60_000;
const most = 99;

/** A bell with what lasts now, and the alerts that fired in the last 24 hours. It looks again every minute. */
export function Firing() {
  const names = useMay('VIEW_SUBSCRIBER');
  const since = useSince();
  const { isRestricted } = useViewer();
  const alerts = useMay('VIEW_A_USERS_DETAILS');
  const [silencing, silence] = useState<Place[] | null>(null);
  const { data, former, problem, reload } = useAsk(query, { since, names, alerts, silences: !isRestricted });
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), minute);
    return () => clearInterval(timer);
  }, [reload]);
  const answer = data ?? former;
  const firing = (answer?.lasting?.totalCount ?? 0) + (answer?.fired?.totalCount ?? 0);
  const text = firing > most ? `${most}+` : count(firing);
  return (
    <>
      <Popover className="icon bell" name={answer ? `Firing now: ${text}` : 'Firing now'} label="Firing now" button={<><Bell />{firing > 0 && <b>{text}</b>}</>}>
        {(close) => (
          <div className="firing" onClick={(event) => event.target instanceof HTMLAnchorElement && close()}>
            {problem && <Failure problem={problem} retry={reload} />}
            {answer && <Shown of={answer} silence={(places) => { close(); silence(places); }} />}
          </div>
        )}
      </Popover>
      {silencing && <Suspense><SilenceDialog of={silencing} close={() => silence(null)} /></Suspense>}
    </>
  );
}

/** The moment 24 hours ago, by the hour. */
function useSince(): string {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10 * minute);
    return () => clearInterval(timer);
  }, []);
  return new Date(Math.floor(now / (60 * minute)) * 60 * minute - 24 * 60 * minute).toISOString();
}

interface ShownProps {
  of: Answer;
  silence: (places: Place[]) => void;
}

function Shown({ of: { lasting, fired, silences }, silence }: ShownProps) {
  useSystem();
  const maySilence = useMaySilence();
  const active = silences?.nodes.filter(({ isActive }) => isActive).length ?? 0;
  return (
    <>
      {active > 0 && <p className="notice"><a href={to('silences')}>{active === 1 ? 'A silence is active' : `${count(active)} silences are active`}</a></p>}
      <h2>Lasting now</h2>
      {lasting?.nodes.length === 0 && <p className="hint">Nothing lasts.</p>}
      <Entries of={lasting?.nodes ?? []} silence={silence} />
      <a href={to('conditions', { now: '1' })}>All that lasts: {count(lasting?.totalCount ?? 0)}</a>
      <h2>Fired in the last 24 hours</h2>
      {fired?.nodes.length === 0 && <p className="hint">No alert fired.</p>}
      <Entries of={fired?.nodes ?? []} silence={silence} />
      <a href={to('alertLog')}>The log: {count(fired?.totalCount ?? 0)} in these hours</a>
      {maySilence && <p className="actions"><button type="button" className="quiet" onClick={() => silence([{ kind: 'all', name: 'every alert' }])}>Silence every alert</button></p>}
    </>
  );
}

interface EntriesProps {
  of: NonNullable<Answer['lasting']>['nodes'];
  silence: (places: Place[]) => void;
}

function Entries({ of, silence }: EntriesProps) {
  return (
    <ul className="plain-list">
      {of.map((one) => (
        <li key={one.id}>
          <span><Who of={one} /> <span className="hint">{one.text}, <Ago at={one.createdAt} /></span></span>
          <Silence of={one} named={one.alert ? nameOfAlert(one.alert) : undefined} silence={silence} />
        </li>
      ))}
    </ul>
  );
}

interface SilenceProps {
  of: Named & { alertId: number | null; isSilenced: boolean };
  /** What the alert of the entry is called. */
  named: string | undefined;
  silence: (places: Place[]) => void;
}

/** Offers to silence what an entry is about: its alert, its subscriber or its group. */
function Silence({ of: { alertId, isSilenced, subscriber, group }, named, silence }: SilenceProps) {
  const may = useMaySilence();
  const places: Place[] = [
    ...(subscriber ? [{ kind: 'subscriber' as const, name: subscriber.nickname || subscriber.physicalId, physicalId: subscriber.physicalId }] : []),
    ...(group ? [{ kind: 'group' as const, name: group.name, groupId: group.groupId }] : []),
    ...(alertId !== null && named ? [{ kind: 'alert' as const, name: named, alertId }] : []),
  ];
  if (isSilenced) return <span className="badge">silenced</span>;
  if (!may || places.length === 0) return null;
  return <button type="button" className="quiet" aria-label={`Silence what fires for ${places[0]!.name}`} onClick={() => silence(places)}>Silence</button>;
}

interface Named {
  target?: string | null;
  source?: string | null;
  subscriber?: { physicalId: string; nickname: string | null } | null;
  group?: { groupId: number; name: string } | null;
}

function Who({ of: { subscriber, group, target, source } }: { of: Named }) {
  if (subscriber) return <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a>;
  return <strong>{group ? `Group ${group.name}` : source || target || 'Company'}</strong>;
}
