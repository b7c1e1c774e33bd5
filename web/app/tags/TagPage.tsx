import { Bars } from '../chart/Bars';
import { bytes, count, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { GroupUsage } from '../groups/GroupUsage';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { to, toSubscriber, toSubscribers } from '../shell/route';
import { useMay } from '../shell/viewer';
import '../styles/lists.css';

const query = graphql(`
  query TagOnPage($name: String!, $usage: Boolean!) {
    tag(by: {name: $name}) {
      name numberOfSubscribers
      usage @include(if: $usage) {
        totals { total mobileOriginated mobileTerminated } series(interval: DAY) { start mobileOriginated mobileTerminated total sessions } previous { totals { total } }
        topSubscribers(first: 8) { subscriber { physicalId nickname } total mobileOriginated mobileTerminated }
      }
    }
  }
`);

/** One tag: who carries it, and what they use. */
export default function TagPage({ id: name }: { id: string }) {
  const may = useMay('VIEW_SUBSCRIBER');
  const { data, problem, reload } = useAsk(may ? query : null, { name, usage: useMay('VIEW_STATISTICS_OVERVIEW') });
  const tag = data?.tag;
  useSystem();
  return (
    <div className="page">
      <p className="crumbs"><a href={to('tags')}>Tags</a></p>
      {!may && <Empty>You need the permission View Subscriber to see tags.</Empty>}
      {problem && <Failure problem={problem} retry={reload} more={<a href={to('tags')}>All tags</a>} />}
      {may && !data && !problem && <Loading label="Reading the tag" />}
      {data && !tag && !problem && <Empty>No subscriber carries the tag {name}. <a href={to('tags')}>All tags</a></Empty>}
      {tag && (
        <>
          <div className="heading">
            <div><h1>{tag.name}</h1><p className="hint">Tag</p></div>
            <a className="button" href={toSubscribers({ tag: tag.name })}>{tag.numberOfSubscribers === null ? 'Subscribers' : `${count(tag.numberOfSubscribers)} subscriber${tag.numberOfSubscribers === 1 ? '' : 's'}`}</a>
          </div>
          {tag.usage && <GroupUsage of={tag.usage} name={tag.name} subject={{ name: tag.name }} />}
          {tag.usage?.topSubscribers && (
            <Panel id="top" title="Most usage" aside={<a href={toSubscribers({ tag: tag.name, order: 'DATA_USAGE.DESC' })}>All that carry it</a>}>
              {tag.usage.topSubscribers.length === 0 ? <Empty>None of them has used data.</Empty> : (
                <Bars label="Subscribers with the tag and the most usage" legend={['Received (MT)', 'Sent (MO)']} bars={tag.usage.topSubscribers.map(({ subscriber, total, mobileOriginated, mobileTerminated }) => ({
                  label: subscriber ? <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a> : 'unknown',
                  values: [Number(mobileTerminated), Number(mobileOriginated)], text: bytes(total),
                }))} />
              )}
            </Panel>
          )}
        </>
      )}
    </div>
  );
}
