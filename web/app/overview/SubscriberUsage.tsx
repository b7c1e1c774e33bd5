import { useMemo, useState } from 'react';
import { Bars } from '../chart/Bars';
import { Plot } from '../chart/Plot';
import { lastDays, lastHours, lastMonths, periodSpan, type Span } from '../format/span';
import { bytes, count, useSystem } from '../format/units';
import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { BySource, soFar } from '../sources/UsageBySource';
import { CSVButton } from './CSVButton';
import type { Subscriber } from './subscriber';
import { type Point, past, point, rowsOf, stacked, timesOf, type Totals, totals } from './usage';

interface Usage {
  totals: Totals | null;
  series: Point[] | null;
  breakdown: Share[] | null;
}

interface Share {
  value: string | null;
  mobileOriginated: string;
  mobileTerminated: string;
  total: string;
}

const query = `query UsageOfSubscriber($physicalId: String!, $start: DateTime, $end: DateTime, $interval: UsageInterval!) {
  subscriber(by: {physicalId: $physicalId}) { usage(start: $start, end: $end) { totals { ${totals} } series(interval: $interval) { ${point} } breakdown(by: PROTOCOL) { value mobileOriginated mobileTerminated total } } }
}`;

interface Answer {
  subscriber: { usage: Usage | null } | null;
}

interface Variables {
  start?: string;
  end?: string;
  interval: 'HOUR' | 'DAY' | 'MONTH';
}

const spanned = ({ from, to }: Span, interval: Variables['interval']): Variables => ({ start: from, end: to, interval });

const spans: { name: string; variables: (timeZone: string) => Variables }[] = [
  { name: '24 hours', variables: () => spanned(lastHours(24), 'HOUR') },
  { name: '7 days', variables: (timeZone) => spanned(lastDays(7, timeZone), 'HOUR') },
  { name: '30 days', variables: (timeZone) => spanned(lastDays(30, timeZone), 'DAY') },
  { name: 'This period', variables: () => ({ interval: 'DAY' }) },
  { name: 'A year', variables: (timeZone) => spanned(lastMonths(12, timeZone), 'MONTH') },
];

const usageOf = ({ subscriber }: Answer) => subscriber?.usage;

/** The usage of one subscriber over a span of one's choice. */
export function SubscriberUsage({ subscriber }: { subscriber: Subscriber }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const [at, setAt] = useState(2);
  const timeZone = useZone();
  const { company: { currentPeriod } } = useViewer();
  const { name, variables } = useMemo(() => ({ name: spans[at]!.name, variables: spans[at]!.variables(timeZone) }), [at, timeZone]);
  const asked = useAsk<Answer>(may ? query : null, { physicalId: subscriber.physicalId, ...variables });
  const usage = asked.data && usageOf(asked.data);
  const tools = (
    <div className="row">
      <div className="switch" role="group" aria-label="Span">
        {spans.map(({ name }, i) => (
          <button key={name} type="button" aria-pressed={i === at} onClick={() => setAt(i)}>{name}</button>
        ))}
      </div>
      <CSVButton name={`Usage of ${subscriber.physicalId}, ${name}`} rows={usage ? rowsOf(past(usage.series)) : []} />
    </div>
  );
  return (
    <Panel id="usage" title="Usage" aside={may && tools}>
      {may ? (
        <Answered asked={asked} of={usageOf} label="Adding up usage" rows={6}>
          {(usage) => (
            <>
              <Chart usage={usage} span={name} />
              {usage.totals?.total !== '0' && <BySource of={{ physicalId: subscriber.physicalId }} span={variables.start && variables.end ? { from: variables.start, to: variables.end } : soFar(periodSpan(currentPeriod))} />}
            </>
          )}
        </Answered>
      ) : (
        <Empty>{subscriber.dataUsage !== null && `${bytes(subscriber.dataUsage)} in this billing period. `}You need the permission View Statistics Overview to see its course.</Empty>
      )}
    </Panel>
  );
}

function Chart({ usage, span }: { usage: Usage; span: string }) {
  useSystem();
  const timeZone = useZone();
  const { times, series } = useMemo(() => {
    const points = past(usage.series);
    return { times: timesOf(points), series: stacked(points) };
  }, [usage]);
  const { totals } = usage;
  if (totals?.total === '0') return <Empty>It used no data in this span.</Empty>;
  const sum = totals ? bytes(totals.total) : 'unknown';
  return (
    <>
      {totals && (
        <p>
          <strong>{sum}</strong> <span className="hint">· {bytes(totals.mobileTerminated)} received, {bytes(totals.mobileOriginated)} sent, {count(totals.sessions)} sessions</span>
        </p>
      )}
      {usage.series && <Plot label={`Usage over ${span}: ${sum}. The CSV has the numbers.`} times={times} series={series} bytes timeZone={timeZone} height={220} />}
      {usage.breakdown && usage.breakdown.length > 0 && (
        <>
          <p className="hint">By protocol</p>
          <Bars
            label={`Usage by protocol over ${span}`}
            bars={usage.breakdown.map(({ value, mobileOriginated, mobileTerminated, total }) => ({ label: value, values: [Number(mobileTerminated), Number(mobileOriginated)], text: bytes(total) }))}
          />
        </>
      )}
    </>
  );
}
