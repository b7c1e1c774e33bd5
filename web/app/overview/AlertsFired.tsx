import { useEffect, useState, useSyncExternalStore } from 'react';
import { subscribe } from '../graph/client';
import { useAsk } from '../graph/use';
import { ago, moment } from '../format/time';
import { bytes, useSystem } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';
import { toSubscriber } from '../shell/route';
import { useMay } from '../shell/viewer';

interface Entry {
  id: string;
  ruleType: string;
  limitBoundary: 'LOWER' | 'UPPER';
  dateCreated: string;
  threshold: string;
  usage: string;
  target: string;
  subscriber: { physicalId: string; nickname: string } | null;
  group: { groupId: number; name: string } | null;
}

const entry = 'id ruleType limitBoundary dateCreated threshold usage target subscriber { physicalId nickname } group { groupId name }';
const query = `query AlertsFired { alertLog(first: 8) { nodes { ${entry} } } }`;
const live = `subscription AlertTriggered { alertTriggered { ${entry} } }`;

/** Alerts that fired lately; new ones come in by themselves. */
export function AlertsFired() {
  const may = useMay('VIEW_MONITORING_ALERTS');
  const asked = useAsk<{ alertLog: { nodes: Entry[] } }>(may ? query : null);
  const fresh = useLive(may);
  useSystem();
  return (
    <Panel id="fired" title="Alerts fired lately" aside={may && <span className="live" title="New alerts appear by themselves">live</span>}>
      {may ? (
        <Answered asked={asked} label="Reading the alert log">
          {({ alertLog }) => <Entries entries={merge(fresh, alertLog.nodes)} />}
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

/** Alerts that fire while the page is looked at: a browser has few connections for all tabs of a server. */
function useLive(may: boolean): Entry[] {
  const [entries, setEntries] = useState<Entry[]>([]);
  const visible = useVisible();
  useEffect(() => {
    if (!may || !visible) return;
    return subscribe<{ alertTriggered: Entry }>({ query: live }, {
      next: ({ data }) => data && setEntries((before) => merge([data.alertTriggered], before)),
      error: () => undefined, // the list stays as it was read
      complete: () => undefined,
    });
  }, [may, visible]);
  return entries;
}

function useVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => document.visibilityState === 'visible',
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  if (entries.length === 0) return <Empty>No alert has fired yet. Open a subscriber to set one.</Empty>;
  return (
    <ul className="entries">
      {entries.map((one) => (
        <li key={one.id}>
          <span className={`badge ${one.limitBoundary.toLowerCase()}`}>{one.limitBoundary === 'UPPER' ? 'upper' : 'lower'}</span>
          <span className="entry-text">
            <Subject entry={one} />
            <span className="hint">{bytes(one.usage)} used, above {bytes(one.threshold)}{whose(one.ruleType)}</span>
          </span>
          <time className="hint" dateTime={one.dateCreated} title={moment(one.dateCreated)}>{ago(one.dateCreated)}</time>
        </li>
      ))}
    </ul>
  );
}

function Subject({ entry }: { entry: Entry }) {
  if (entry.subscriber) return <a href={toSubscriber(entry.subscriber.physicalId)}>{entry.subscriber.nickname || entry.subscriber.physicalId}</a>;
  if (entry.group) return <strong>Group {entry.group.name}</strong>;
  return <strong>{entry.target || 'Company'}</strong>;
}

const whose = (ruleType: string) => ({ COMPANY: ' · company alert', GROUPPR: ' · group alert', GROUPFPTP: ' · group alert' })[ruleType] ?? '';
