import type { ReactNode } from 'react';
import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Failure, Loading, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { useRefreshed } from './PagedPanel';
import { CountTiles, countsInWords, Reason, timesInWords } from './words';

const sourceQuery = graphql(`
  query WatchSource($name: String!, $rejects: Boolean!) {
    source(by: {name: $name}) { receivedAt counts { accepted duplicates waiting rejected skipped } }
    sourceRejects(first: 5, filter: {sourceName: {eq: $name}}) @include(if: $rejects) { nodes { id reason field times lastAt } }
  }
`);
const feedQuery = graphql(`
  query WatchFeed($source: String!, $rejects: Boolean!) {
    company {
      feedElements(first: 10, filter: {source: {eq: $source}}) { nodes { id nas completeUntil lastPacketAt packets { result packets } } }
      feedRejects(first: 3) @include(if: $rejects) { nodes { id source reason requests lastAt } }
    }
  }
`);

/** How often what is watched is read again, in seconds. */
const often = 2;

/** The first records of a source, as they arrive. */
export function WatchSource({ name }: { name: string }) {
  const asked = useAsk(sourceQuery, { name, rejects: useMay('VIEW_SUBSCRIBER') });
  useRefreshed(asked, often);
  const { data, problem, reload } = asked;
  const source = data?.source;
  return (
    <Panel id="watch" title="What arrives" aside={source?.receivedAt && <span className="hint">last received <Ago at={source.receivedAt} /></span>}>
      {problem && <Failure problem={problem} retry={reload} />}
      <div role="status">
        {!source?.receivedAt ? <Loading label="Waiting for the first records" /> : <p><strong>{countsInWords(source.counts)}</strong></p>}
      </div>
      {source?.receivedAt && <CountTiles of={source.counts} />}
      {source && source.counts.waiting !== '0' && <p className="hint">Records wait for subscribers that the inventory does not have. <a href={to('sources')}>Sources</a> lists whom they wait for.</p>}
      {(data?.sourceRejects?.nodes.length ?? 0) > 0 && (
        <ul className="plain-list" aria-label="Rejected records">
          {data!.sourceRejects!.nodes.map(({ id, reason, field, times, lastAt }) => <li key={id}><span className="badge upper">rejected</span> <Reason field={field} text={reason} /> <span className="hint">{timesInWords(times)}, last <Ago at={lastAt} /></span></li>)}
        </ul>
      )}
      {source?.receivedAt && <p className="row"><a href={to('source', {}, name)}>Open the source</a> <a href={to('sources')}>Usage by source</a></p>}
    </Panel>
  );
}

const packetWords: Record<string, string> = { BOOKED: 'booked', NOTHING_NEW: 'nothing new', QUARANTINED: 'for an unknown subscriber', RESTARTED: 'restarts', UNUSABLE: 'unusable' };

/** The first reports of a network element or a program, as they arrive. */
export function WatchFeed({ source, children }: { source: string; children: ReactNode }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const asked = useAsk(may && source !== '' ? feedQuery : null, { source, rejects: true });
  useRefreshed(asked, often);
  const { data, problem, reload } = asked;
  const elements = data?.company?.feedElements?.nodes ?? [];
  return (
    <Panel id="watch" title="What arrives">
      {problem && <Failure problem={problem} retry={reload} />}
      <div role="status">{source === '' ? <p className="hint">Write a name to see what arrives.</p> : elements.length === 0 && !problem && <Loading label={`Waiting for the first reports of ${source}`} />}</div>
      {elements.length > 0 && (
        <ul className="plain-list" aria-label="What has arrived">
          {elements.map(({ id, nas, completeUntil, lastPacketAt, packets }) => (
            <li key={id}>
              <strong>{nas ?? source}</strong> {packets.map(({ result, packets }) => `${count(packets)} ${packetWords[result]}`).join(', ')} <span className="hint">{lastPacketAt ? <>last packet <Ago at={lastPacketAt} /></> : <>complete until <Ago at={completeUntil} /></>}</span>
            </li>
          ))}
        </ul>
      )}
      {children}
      {elements.length === 0 && (data?.company?.feedRejects?.nodes.length ?? 0) > 0 && (
        <>
          <p className="hint">What was refused lately, of all sources:</p>
          <ul className="plain-list" aria-label="What was refused">
            {data!.company!.feedRejects!.nodes.map(({ id, source, reason, requests, lastAt }) => <li key={id}><span className="badge upper">rejected</span> {reason} <span className="hint">{source}, {count(requests)} request{requests === '1' ? '' : 's'}, last <Ago at={lastAt} /></span></li>)}
          </ul>
        </>
      )}
    </Panel>
  );
}
