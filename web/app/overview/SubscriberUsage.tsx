import { useMemo, useState } from 'react';
import { Plot } from '../chart/Plot';
import { bytes, count, useSystem } from '../format/units';
import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { useMay, useViewer } from '../shell/viewer';
import { CSVButton } from './CSVButton';
import type { Subscriber } from './subscriber';
import { type Point, past, point, rowsOf, stacked, timesOf, type Totals, totals } from './usage';

interface Usage {
  totals: Totals;
  series: Point[];
}

const query = `query UsageOfSubscriber($physicalId: String!, $start: DateTime, $end: DateTime, $interval: UsageInterval!) {
  subscriber(physicalId: $physicalId) { usage(start: $start, end: $end) { totals { ${totals} } series(interval: $interval) { ${point} } } }
}`;

const hour = 3_600_000;
/** Up to the next full hour, so that looking again is the same question. */
const since = (hours: number) => {
  const end = Math.ceil(Date.now() / hour) * hour;
  return { start: new Date(end - hours * hour).toISOString(), end: new Date(end).toISOString() };
};

const spans = [
  { name: '24 hours', variables: () => ({ ...since(24), interval: 'HOUR' }) },
  { name: '7 days', variables: () => ({ ...since(7 * 24), interval: 'HOUR' }) },
  { name: '30 days', variables: () => ({ ...since(30 * 24), interval: 'DAY' }) },
  { name: 'This period', variables: () => ({ interval: 'DAY' }) },
  { name: 'A year', variables: () => ({ ...since(365 * 24), interval: 'MONTH' }) },
];

/** The usage of one subscriber over a span of one's choice. */
export function SubscriberUsage({ subscriber }: { subscriber: Subscriber }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const [at, setAt] = useState(2);
  const variables = useMemo(() => spans[at]!.variables(), [at]);
  const asked = useAsk<{ subscriber: { usage: Usage } }>(may ? query : null, { physicalId: subscriber.physicalId, ...variables });
  const rows = asked.data ? rowsOf(past(asked.data.subscriber.usage.series)) : [];
  const tools = (
    <div className="row">
      <div className="switch" role="group" aria-label="Span">
        {spans.map(({ name }, i) => (
          <button key={name} type="button" aria-pressed={i === at} onClick={() => setAt(i)}>{name}</button>
        ))}
      </div>
      <CSVButton name={`Usage of ${subscriber.physicalId}`} rows={rows} />
    </div>
  );
  return (
    <Panel id="usage" title="Usage" aside={may && tools}>
      {may ? (
        <Answered asked={asked} label="Adding up usage" rows={6}>
          {({ subscriber: { usage } }) => <Chart usage={usage} span={spans[at]!.name} />}
        </Answered>
      ) : (
        <Empty>{bytes(subscriber.dataUsage)} in this billing period. You need the permission View Statistics Overview to see its course.</Empty>
      )}
    </Panel>
  );
}

function Chart({ usage, span }: { usage: Usage; span: string }) {
  useSystem();
  const { company } = useViewer();
  const { times, series } = useMemo(() => {
    const points = past(usage.series);
    return { times: timesOf(points), series: stacked(points) };
  }, [usage]);
  if (usage.totals.total === '0') return <Empty>It used no data in this span.</Empty>;
  const sum = bytes(usage.totals.total);
  return (
    <>
      <p>
        <strong>{sum}</strong> <span className="hint">· {bytes(usage.totals.mobileTerminated)} received, {bytes(usage.totals.mobileOriginated)} sent, {count(usage.totals.sessions)} sessions</span>
      </p>
      <Plot label={`Usage over ${span}: ${sum}. The CSV has the numbers.`} times={times} series={series} bytes timeZone={company.timeZone} height={220} />
    </>
  );
}
