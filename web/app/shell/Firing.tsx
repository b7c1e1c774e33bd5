import { useEffect, useState } from 'react';
import { graphql, type ResultOf } from '../graph/graphql';
import { bytes, count, useSystem } from '../format/units';
import { useAsk } from '../graph/use';
import { Ago } from '../ui/Ago';
import { Popover } from '../ui/Popover';
import { Bell } from './icons';
import { Failure } from './parts';
import { to, toSubscriber } from './route';
import { useMay } from './viewer';

const query = graphql(`
  query FiringNow($since: DateTime!, $names: Boolean!) {
    conditionLog(first: 5, filter: { isOpen: { eq: true } }) {
      nodes { entryId text source dateCreated subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { name } }
      totalCount
    }
    alertLog(first: 5, filter: { dateCreated: { ge: $since } }) {
      nodes { entryId limitBoundary usage target dateCreated subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { name } }
      totalCount
    }
  }
`);

type Answer = ResultOf<typeof query>;
const minute = 60_000;
const most = 99;

/** A bell with what lasts now, and the alerts that fired in the last 24 hours. It looks again every minute. */
export function Firing() {
  const names = useMay('VIEW_SUBSCRIBER');
  const since = useSince();
  const { data, former, problem, reload } = useAsk(query, { since, names });
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), minute);
    return () => clearInterval(timer);
  }, [reload]);
  const answer = data ?? former;
  const firing = (answer?.conditionLog?.totalCount ?? 0) + (answer?.alertLog?.totalCount ?? 0);
  const text = firing > most ? `${most}+` : count(firing);
  return (
    <Popover className="icon bell" name={answer ? `Firing now: ${text}` : 'Firing now'} label="Firing now" button={<><Bell />{firing > 0 && <b>{text}</b>}</>}>
      {(close) => (
        <div className="firing" onClick={(event) => event.target instanceof HTMLAnchorElement && close()}>
          {problem && <Failure problem={problem} retry={reload} />}
          {answer && <Shown of={answer} />}
        </div>
      )}
    </Popover>
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

function Shown({ of: { conditionLog, alertLog } }: { of: Answer }) {
  useSystem();
  return (
    <>
      <h2>Lasting now</h2>
      {conditionLog?.nodes.length === 0 && <p className="hint">Nothing lasts.</p>}
      <ul className="plain-list">
        {conditionLog?.nodes.map((one) => (
          <li key={one.entryId}>{one.source ? <strong>{one.source}</strong> : <Who of={one} />} <span className="hint">{one.text}, <Ago at={one.dateCreated} /></span></li>
        ))}
      </ul>
      <a href={to('conditions', { now: '1' })}>All that lasts: {count(conditionLog?.totalCount ?? 0)}</a>
      <h2>Fired in the last 24 hours</h2>
      {alertLog?.nodes.length === 0 && <p className="hint">No alert fired.</p>}
      <ul className="plain-list">
        {alertLog?.nodes.map((one) => (
          <li key={one.entryId}><Who of={one} /> <span className="hint">{bytes(one.usage)} used, {one.limitBoundary.toLowerCase()} threshold, <Ago at={one.dateCreated} /></span></li>
        ))}
      </ul>
      <a href={to('alertLog')}>The log: {count(alertLog?.totalCount ?? 0)} in these hours</a>
    </>
  );
}

interface Named {
  target?: string;
  subscriber?: { physicalId: string; nickname: string } | null;
  group?: { name: string } | null;
}

function Who({ of: { subscriber, group, target } }: { of: Named }) {
  if (subscriber) return <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a>;
  return <strong>{group ? `Group ${group.name}` : target || 'Company'}</strong>;
}
