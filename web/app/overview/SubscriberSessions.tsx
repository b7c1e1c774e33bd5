import { useLive, useSoon } from '../graph/live';
import { useAsk } from '../graph/use';
import { ago, moment, momentInZone } from '../format/time';
import { bytes, useSystem } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';
import { useMay, useZone } from '../shell/viewer';

interface Session {
  id: string;
  beganAt: string;
  reportedAt: string;
  endedAt: string | null;
  cause: string | null;
  isTransferring: boolean;
  total: string;
  apn: string | null;
  ipAddress: string | null;
  ipv6Prefix: string | null;
  ratType: string | null;
  imei: string | null;
  visitedNetwork: { code: string; country: { name: string } | null } | null;
}

interface Reported {
  lastSeen: string | null;
  sessions: Session[] | null;
}

const query = `query Sessions($physicalId: String!) {
  subscriber(physicalId: $physicalId) {
    lastSeen
    sessions(limit: 10) {
      id beganAt reportedAt endedAt cause isTransferring total apn ipAddress ipv6Prefix ratType imei
      visitedNetwork { code country { name } }
    }
  }
}`;
const state = 'subscription StateChanged($physicalIds: [String!]) { subscriberChanged(physicalIds: $physicalIds) { physicalId } }';
const usage = 'subscription UsageRecorded($physicalIds: [String!]) { usageRecorded(physicalIds: $physicalIds) { bytes } }';

/** The newest sessions of a subscriber on a common axis, up to now; they follow what the network reports. */
export function SubscriberSessions({ physicalId, changed }: { physicalId: string; changed: () => void }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const asked = useAsk<{ subscriber: Reported | null }>(may ? query : null, { physicalId });
  const reload = useSoon(asked.reload, 2_000);
  const reloadAll = useSoon(() => { asked.reload(); changed(); }, 2_000);
  const variables = { physicalIds: [physicalId] };
  useLive(may ? state : null, { next: reloadAll, connected: reloadAll, variables });
  useLive(may ? usage : null, { next: reload, variables });
  const timeZone = useZone();
  useSystem();
  if (!may) return null;
  const seen = asked.data?.subscriber?.lastSeen;
  return (
    <Panel id="sessions" title="Sessions" aside={seen && <time className="hint" dateTime={seen} title={momentInZone(seen, timeZone)}>last seen {ago(seen)}</time>}>
      <Answered asked={asked} of={({ subscriber }) => subscriber?.sessions} label="Reading the sessions">
        {(sessions) => (sessions.length === 0 ? <Empty>No network element has reported a session.</Empty> : <Timeline sessions={sessions} />)}
      </Answered>
    </Panel>
  );
}

function Timeline({ sessions }: { sessions: Session[] }) {
  const now = Date.now();
  const from = Math.min(...sessions.map(({ beganAt }) => Date.parse(beganAt)));
  return (
    <ol className="sessions" aria-label="The newest sessions">
      {sessions.map((one) => <Row key={one.id} session={one} from={from} now={Math.max(now, from + 1)} />)}
    </ol>
  );
}

function Row({ session, from, now }: { session: Session; from: number; now: number }) {
  const timeZone = useZone();
  const { beganAt, endedAt, reportedAt, isTransferring, total, cause } = session;
  const place = (at: string | null) => ((Math.min(at ? Date.parse(at) : now, now) - from) / (now - from)) * 100;
  const [left, right] = [place(beganAt), place(endedAt)];
  return (
    <li className={endedAt ? undefined : 'open'}>
      <span className="session-head">
        <span title={momentInZone(beganAt, timeZone)}>{moment(beganAt, timeZone)} – {endedAt ? moment(endedAt, timeZone) : 'now'}</span>
        {!endedAt && <span className="badge good">{isTransferring ? 'transferring' : 'open'}</span>}
        <strong>{bytes(total)}</strong>
      </span>
      <span className="bar-track" aria-hidden="true"><i style={{ marginLeft: `${left}%`, width: `${Math.max(right - left, 0.5)}%` }} /></span>
      <span className="hint">{[...facts(session), endedAt ? cause && `ended by ${cause}` : `reported ${ago(reportedAt)}`].filter(Boolean).join(' · ')}</span>
    </li>
  );
}

/** Address, network and device, as far as they were reported. */
const facts = ({ ipAddress, ipv6Prefix, apn, visitedNetwork, ratType, imei }: Session) => [
  ipAddress, ipv6Prefix, apn, visitedNetwork && [visitedNetwork.code, visitedNetwork.country?.name].filter(Boolean).join(' '), ratType, imei && `IMEI ${imei}`,
];
