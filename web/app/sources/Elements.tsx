import { ago, momentInZone } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { to } from '../shell/route';
import { useMay, useZone } from '../shell/viewer';
import { late, lateness } from './late';
import { PagedPanel } from './PagedPanel';

type Result = 'BOOKED' | 'NOTHING_NEW' | 'QUARANTINED' | 'RESTARTED' | 'UNUSABLE';

const query = graphql(`query FeedElements($first: Int, $after: String, $last: Int, $before: String, $filter: FeedElementFilter, $sessions: Boolean!) {
  company { feedElements(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    nodes { id source nas completeUntil lagSeconds lastPacketAt packets { result packets } openSessions @include(if: $sessions) incompleteSessions @include(if: $sessions) }
    totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  } }
}`);

type Element = NonNullable<NonNullable<ResultOf<typeof query>['company']>['feedElements']>['nodes'][number];

const results: Record<Result, string> = {
  BOOKED: 'booked', NOTHING_NEW: 'nothing new', QUARANTINED: 'subscriber unknown', RESTARTED: 'restarts', UNUSABLE: 'unusable',
};

/** The sources and the network elements below them, or those that are late. */
export function Elements({ some }: { some: boolean }) {
  const timeZone = useZone();
  const sessions = useMay('VIEW_SUBSCRIBER');
  return (
    <PagedPanel
      key={String(some)} id="elements" title={some ? 'Network elements that report late' : 'Sources and network elements'} query={query} variables={{ sessions, filter: some ? late : undefined }} refreshed={10} of={(data) => data.company?.feedElements}
      empty={some ? <>No network element reports late. <a href={to('sources')}>Show all</a></> : 'No usage has come yet. Send records to POST /usage/records, or report sessions by RADIUS accounting.'}
      columns={<><th scope="col">Source</th><th scope="col">Complete until</th><th scope="col">Reports lag by</th><th scope="col">Last packet</th><th scope="col">Packets by result</th><th scope="col" className="number">Open sessions</th><th scope="col" className="number">Incomplete sessions</th></>}
      row={(of) => (
        <tr key={of.id}>
          <td>{of.nas === null ? <strong>{of.source}</strong> : <span>{of.nas}</span>}{of.nas !== null && <span className="hint">of {of.source}</span>}</td>
          <td className="time"><Time at={of.completeUntil} timeZone={timeZone} /></td>
          <td className="time"><Lag seconds={of.lagSeconds} /></td>
          <td className="time"><Time at={of.lastPacketAt} timeZone={timeZone} /></td>
          <td><Packets of={of.packets} /></td>
          <td className="number">{of.openSessions == null ? '–' : count(of.openSessions)}</td>
          <td className="number">{of.incompleteSessions == null ? '–' : count(of.incompleteSessions)}</td>
        </tr>
      )}
    />
  );
}

export const Time = ({ at, timeZone }: { at: string | null; timeZone: string }) =>
  at === null ? <span>–</span> : <time dateTime={at} title={momentInZone(at, timeZone)}>{ago(at)}</time>;

function Lag({ seconds }: { seconds: string | null }) {
  if (seconds === null) return <span>–</span>;
  const lag = Number(seconds);
  const text = lag < 60 ? `${lag} s` : lag < 5_400 ? `${Math.round(lag / 60)} min` : `${Math.round(lag / 3_600)} h`;
  return lag > lateness ? <span className="badge upper" title="Reports wait in a buffer, or the clock of the network element is late.">{text}</span> : <span>{text}</span>;
}

const Packets = ({ of }: { of: Element['packets'] }) => of.length === 0 ? <span>–</span> : (
  <span className="states">
    {of.map(({ result, packets }) => (
      <span key={result} className={result === 'UNUSABLE' || result === 'QUARANTINED' ? 'badge upper' : 'badge'}>{count(packets)} {results[result]}</span>
    ))}
  </span>
);
