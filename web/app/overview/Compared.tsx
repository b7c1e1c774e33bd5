import { Bars } from '../chart/Bars';
import type { Span } from '../format/span';
import { bytes, change, count } from '../format/units';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Failure } from '../shell/parts';
import { to } from '../shell/route';
import type { Subscriber } from './subscriber';

const query = graphql('query GroupMedian($groupId: Int!, $start: DateTime!, $end: DateTime!) { group(by: {groupId: $groupId}) { usage(start: $start, end: $end) { perSubscriber { subscribers median } } } }');

interface ComparedProps {
  total: string;
  /** The usage of the span before; undefined where it could not be read. */
  before: string | undefined;
  span: Span;
  group: Subscriber['group'];
}

/** The usage of a subscriber beside that of the span before, and beside the median of its group. */
export function Compared({ total, before, span, group }: ComparedProps) {
  const asked = useAsk(group ? query : null, { groupId: group?.groupId ?? 0, start: span.from, end: span.to });
  const of = asked.data?.group?.usage?.perSubscriber;
  const said = [
    before !== undefined && Number(before) > 0 && `${change(Number(total), Number(before))} on the span before`,
    group && of && Number(of.median) > 0 && `${timesOf(Number(total) / Number(of.median))} the median of the ${count(of.subscribers)} of ${group.name} with usage`,
  ].filter(Boolean);
  return (
    <>
      <p className="hint">Compared{said.length > 0 && `: ${said.join(', ')}`}</p>
      <Bars label="Usage compared" bars={[
        { label: 'This subscriber', values: [Number(total)], text: bytes(total) },
        ...(before === undefined ? [] : [{ label: 'The span before', values: [Number(before)], text: bytes(before) }]),
        ...(group && of ? [{ label: <a href={to('group', {}, String(group.groupId))}>Median of {group.name}</a>, values: [Number(of.median)], text: bytes(of.median) }] : []),
      ]} />
      {asked.problem && asked.problem.code !== 'FORBIDDEN' && <Failure problem={asked.problem} retry={asked.reload} />}
    </>
  );
}

const timesOf = (ratio: number): string => `${ratio.toLocaleString('en', { maximumSignificantDigits: 2 })} times`;
