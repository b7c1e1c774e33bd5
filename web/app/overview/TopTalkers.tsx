import { useMemo } from 'react';
import { Bars } from '../chart/Bars';
import { day } from '../format/time';
import { bytes, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { toSubscriber } from '../shell/route';
import { useMay, useZone } from '../shell/viewer';
import { CSVButton } from './CSVButton';
import { daysOf, type Key, nameOf, toUsageOf } from './spans';

const talkers = graphql('fragment Talkers on Usage { period { startsAt endsAt } topSubscribers(first: 10) { subscriber { physicalId subscriberId nickname } mobileOriginated mobileTerminated total } }');
const query = graphql(`query TopTalkers($start: DateTime, $end: DateTime, $isLast: Boolean!) {
  company {
    usage(start: $start, end: $end) @skip(if: $isLast) { ...Talkers }
    period: usage @include(if: $isLast) { previous { ...Talkers } }
  }
}`, [talkers]);

type Usage = ResultOf<typeof talkers>;
interface Ranked extends Usage {
  topSubscribers: NonNullable<Usage['topSubscribers']>;
}

/** The usage of which the subscribers are known. */
function usageOf({ company }: ResultOf<typeof query>): Ranked | null {
  const usage = company?.period?.previous ?? company?.usage;
  return usage?.topSubscribers ? { period: usage.period, topSubscribers: usage.topSubscribers } : null;
}

/** The ten subscribers with the most usage in a span. */
export function TopTalkers({ span }: { span: Key }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const timeZone = useZone();
  const days = useMemo(() => daysOf(span, timeZone), [span, timeZone]);
  const asked = useAsk(may ? query : null, { ...(days && { start: days.start, end: days.end }), isLast: span === 'last' });
  const usage = asked.data && usageOf(asked.data);
  return (
    <Panel id="top" title="Top talkers" aside={may && <CSVButton name={`Top talkers${span && `, ${nameOf(span)}`}`} rows={rowsOf(usage)} />}>
      {may ? (
        <Answered asked={asked} of={usageOf} label="Ranking subscribers" rows={8}>
          {(usage) => <Ranking usage={usage} of={span} />}
        </Answered>
      ) : (
        <Empty>You need the permissions View Statistics Overview and View Subscriber to see these.</Empty>
      )}
    </Panel>
  );
}

const rowsOf = (usage: Ranked | null | undefined) => (usage?.topSubscribers ?? []).map(({ subscriber, ...bytes }) => ({ ...subscriber, ...bytes }));

function Ranking({ usage: { period, topSubscribers }, of }: { usage: Ranked; of: Key }) {
  useSystem();
  const timeZone = useZone();
  const span = `${day(period.startsAt, timeZone)} – ${day(Date.parse(period.endsAt) - 1, timeZone)}`;
  if (topSubscribers.length === 0) return <Empty>No subscriber used data, {span}.</Empty>;
  return (
    <>
      <Bars
        label={`Subscribers with the most usage, ${span}`}
        legend={['Received (MT)', 'Sent (MO)']}
        bars={topSubscribers.map(({ subscriber, mobileOriginated, mobileTerminated, total }) => ({
          label: subscriber ? <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a> : 'unknown',
          values: [Number(mobileTerminated), Number(mobileOriginated)],
          text: subscriber ? <a href={toUsageOf(subscriber.physicalId, of, { from: period.startsAt, to: period.endsAt }, timeZone)}>{bytes(total)}</a> : bytes(total),
        }))}
      />
      <p className="hint">{span}</p>
    </>
  );
}
