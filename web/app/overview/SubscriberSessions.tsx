import { useEffect, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useLive, useSoon } from '../graph/live';
import { useAsk } from '../graph/use';
import { ago, moment, momentInZone } from '../format/time';
import type { Span } from '../format/span';
import { bytes, useSystem } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';
import { type PagePart, Pager } from '../sources/PagedPanel';
import { useMay, useZone } from '../shell/viewer';
import { ExportAll } from '../ui/ExportAll';
import { toTab } from './tabs';

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
  cell: { code: string } | null;
  source: string;
  nas: string | null;
  otherSources: string[];
}

const pageLength = 10;
const query = graphql(`query Sessions($physicalId: String!, $first: Int, $after: String, $last: Int, $before: String, $filter: SessionFilter) {
  subscriber(by: {physicalId: $physicalId}) {
    lastSeenAt
    sessions(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
      totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
      nodes {
        id beganAt reportedAt endedAt cause isTransferring total apn ipAddress ipv6Prefix ratType imei
        visitedNetwork { code country { name } } cell { code } source nas otherSources
      }
    }
  }
}`);
const state = graphql('subscription StateChanged($physicalIds: [String!]) { subscriberChanged(physicalIds: $physicalIds) { physicalId } }');
const usage = graphql('subscription UsageRecorded($physicalIds: [String!]) { usageRecorded(physicalIds: $physicalIds) { bytes } }');

interface Props {
  physicalId: string;
  params: URLSearchParams;
}

/** The sessions of a subscriber, of all times or of the span that the address names. */
export function SubscriberSessions(props: Props) {
  const [from, to] = [props.params.get('from'), props.params.get('to')];
  const span = from && to && isInstant(from) && isInstant(to) ? { from, to } : null;
  return <Sessions key={span ? `${from} ${to}` : ''} span={span} {...props} />;
}

const isInstant = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));

/** Those that ran in a span: they began before its end, and did not end before it. */
const ranIn = ({ from, to }: Span) => ({ beganAt: { lt: to }, or: [{ endedAt: { eq: null } }, { endedAt: { ge: from } }] });

/** The sessions of a subscriber, the newest first, page by page on a common axis; they follow what the network reports. */
function Sessions({ physicalId, params, span }: Props & { span: Span | null }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const [part, setPart] = useState<PagePart>({ first: pageLength });
  const asked = useAsk(may ? query : null, { physicalId, ...part, filter: span && ranIn(span) });
  useEffect(() => {
    if (span) document.getElementById('sessions-title')?.scrollIntoView({ block: 'center' });
  }, [span?.from, span?.to]);
  const reload = useSoon(asked.reload, 2_000);
  const variables = { physicalIds: [physicalId] };
  useLive(may ? state : null, { next: reload, connected: reload, variables });
  useLive(may ? usage : null, { next: reload, connected: reload, variables });
  const timeZone = useZone();
  useSystem();
  if (!may) return null;
  const seen = asked.data?.subscriber?.lastSeenAt;
  const page = asked.data?.subscriber?.sessions?.pageInfo;
  return (
    <Panel id="sessions" title="Sessions" aside={(
      <span className="row">
        {seen && <time className="hint" dateTime={seen} title={momentInZone(seen, timeZone)}>last seen {ago(seen)}</time>}
        {span && <a href={toTab(physicalId, 'sessions', params)}>All sessions</a>}
        <ExportAll of="sessions" filter={{ ...(span && ranIn(span)), physicalId: { eq: physicalId } }} />
      </span>
    )}>
      {span && <p>That ran from {moment(span.from, timeZone)} to {moment(span.to, timeZone)}.</p>}
      <Answered asked={asked} of={({ subscriber }) => subscriber?.sessions} label="Reading the sessions">
        {({ nodes, pageInfo }) => (nodes.length === 0 ? <Empty>{span ? 'No session was reported that ran in this span.' : 'No network element has reported a session.'}</Empty> : <Timeline sessions={nodes} toNow={!pageInfo.hasPreviousPage && !span} />)}
      </Answered>
      {page && <Pager of="sessions" page={page} length={pageLength} words={['Newer', 'Older']} turn={setPart} />}
    </Panel>
  );
}

/** The axis of the newest sessions ends now, and that of older ones when the last of them ended. */
function Timeline({ sessions, toNow }: { sessions: Session[]; toNow: boolean }) {
  const now = Date.now();
  const from = Math.min(...sessions.map(({ beganAt }) => Date.parse(beganAt)));
  const to = toNow ? now : Math.max(...sessions.map(({ endedAt }) => (endedAt ? Date.parse(endedAt) : now)));
  return (
    <ol className="sessions" aria-label="Sessions, the newest first">
      {sessions.map((one) => <Row key={one.id} session={one} from={from} to={Math.max(to, from + 1)} />)}
    </ol>
  );
}

function Row({ session, from, to }: { session: Session; from: number; to: number }) {
  const timeZone = useZone();
  const { beganAt, endedAt, reportedAt, isTransferring, total, cause } = session;
  const place = (at: string | null) => ((Math.min(at ? Date.parse(at) : to, to) - from) / (to - from)) * 100;
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

/** Address, network, device and who reports them, as far as they were reported. */
const facts = ({ ipAddress, ipv6Prefix, apn, visitedNetwork, ratType, cell, imei, source, nas, otherSources }: Session) => [
  ipAddress, ipv6Prefix, apn, visitedNetwork && [visitedNetwork.code, visitedNetwork.country?.name].filter(Boolean).join(' '), ratType, cell?.code,
  imei && `IMEI ${imei}`, [nas, source].filter(Boolean).join(' of '), otherSources.length > 0 && `also reported by ${otherSources.join(', ')}`,
];
