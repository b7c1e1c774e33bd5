import { useState } from 'react';
import { graphql } from '../graph/graphql';
import { type Live, useLive } from '../graph/live';
import { useAsk } from '../graph/use';
import { ago, momentInZone } from '../format/time';
import { bytes, useSystem } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';
import { toSubscriber } from '../shell/route';
import { useMay, useZone } from '../shell/viewer';

interface Entry {
  id: string;
  ruleType: string;
  kind: string;
  state: 'FIRED' | 'RESOLVED';
  text: string;
  limitBoundary?: 'LOWER' | 'UPPER';
  createdAt: string;
  threshold?: string;
  usage?: string;
  source?: string | null;
  target: string | null;
  subscriber: { physicalId: string; nickname: string | null } | null;
  group: { groupId: number; name: string } | null;
}

const entry = graphql('fragment Fired on AlertLogEntry { id ruleType kind state text createdAt target ... on VolumeLogEntry { limitBoundary threshold usage } ... on ConditionLogEntry { source } subscriber { physicalId nickname } group { groupId name } }');
const query = graphql('query AlertsFired { alertLog(first: 8) { nodes { ...Fired } } }', [entry]);
const subscription = graphql('subscription AlertTriggered { alertTriggered { ...Fired } }', [entry]);

/** Alerts that fired lately; new ones come in by themselves. */
export function AlertsFired() {
  const may = useMay('VIEW_MONITORING_ALERTS');
  const asked = useAsk(may ? query : null);
  const [fresh, setFresh] = useState<Entry[]>([]);
  const live = useLive(may ? subscription : null, {
    next: ({ alertTriggered }) => alertTriggered && setFresh((before) => merge([alertTriggered], before)),
    connected: asked.reload,
  });
  useSystem();
  return (
    <Panel id="fired" title="Alerts fired lately" aside={may && <LiveMark {...live} />}>
      {may ? (
        <Answered asked={asked} of={({ alertLog }) => alertLog} label="Reading the alert log">
          {({ nodes }) => <Entries entries={merge(fresh, nodes)} />}
        </Answered>
      ) : (
        <Empty>You need the permission View Monitoring Alerts to see these.</Empty>
      )}
    </Panel>
  );
}

const merge = (fresh: Entry[], read: Entry[]) => {
  const seen = new Set(fresh.map(({ id }) => id));
  return [...fresh, ...read.filter(({ id }) => !seen.has(id))].slice(0, 8);
};

/** Whether new alerts appear by themselves. */
function LiveMark({ state, problem, reconnect }: Live) {
  if (state === 'live') return <span className="live" title="New alerts appear by themselves">live</span>;
  if (state === 'connecting') return <span className="hint">connecting …</span>;
  return (
    <span className="row">
      <span className="hint" role="status" title={problem?.message}>not live{problem && `: ${problem.message}`}</span>
      <button type="button" className="quiet" onClick={reconnect}>Connect again</button>
    </span>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  const timeZone = useZone();
  if (entries.length === 0) return <Empty>No alert has fired yet. Open a subscriber to set one.</Empty>;
  return (
    <ul className="entries">
      {entries.map((one) => (
        <li key={one.id}>
          <EntryBadge of={one} />
          <span className="entry-text">
            <Subject entry={one} />
            <span className="hint">{one.usage && one.threshold ? `${bytes(one.usage)} used, above ${bytes(one.threshold)}` : one.text}{whose(one.ruleType)}</span>
          </span>
          <time className="hint" dateTime={one.createdAt} title={momentInZone(one.createdAt, timeZone)}>{ago(one.createdAt)}</time>
        </li>
      ))}
    </ul>
  );
}

/** What an entry of the log is about, in a word. */
function EntryBadge({ of: { limitBoundary, state } }: { of: Entry }) {
  if (limitBoundary) return <span className={`badge ${limitBoundary.toLowerCase()}`}>{limitBoundary.toLowerCase()}</span>;
  return <span className={`badge ${state === 'RESOLVED' ? 'good' : 'upper'}`}>{state === 'RESOLVED' ? 'over' : 'noticed'}</span>;
}

function Subject({ entry }: { entry: Entry }) {
  if (entry.subscriber) return <a href={toSubscriber(entry.subscriber.physicalId)}>{entry.subscriber.nickname || entry.subscriber.physicalId}</a>;
  if (entry.group) return <strong>Group {entry.group.name}</strong>;
  return <strong>{entry.source || entry.target || 'Company'}</strong>;
}

const whose = (ruleType: string) => ({ COMPANY: ' · company alert', GROUPPR: ' · group alert', GROUPFPTP: ' · group alert' })[ruleType] ?? '';
