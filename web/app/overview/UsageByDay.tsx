import { useMemo } from 'react';
import { Plot, type Series } from '../chart/Plot';
import { moment } from '../format/time';
import { bytes, change, count, useSystem } from '../format/units';
import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { useMay, useViewer } from '../shell/viewer';
import { CSVButton } from './CSVButton';
import { type Point, past, point, rowsOf, stacked, timesOf, type Totals, totals } from './usage';

interface Usage {
  totals: Totals;
  series: Point[];
  dataCompleteUntil: string | null;
  previous: { totals: Totals; series: Point[] };
}

const query = `query UsageByDay {
  company { usage {
    totals { ${totals} } series(interval: DAY) { ${point} } dataCompleteUntil
    previous { totals { ${totals} } series(interval: DAY) { ${point} } }
  } }
}`;

/** Usage of the current period by day, against the same days of the one before. */
export function UsageByDay() {
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const asked = useAsk<{ company: { usage: Usage } }>(may ? query : null);
  const rows = asked.data ? rowsOf(past(asked.data.company.usage.series)) : [];
  return (
    <Panel id="usage" title="Usage this billing period" aside={may && <CSVButton name="Usage by day" rows={rows} />}>
      {may ? (
        <Answered asked={asked} label="Adding up usage" rows={6}>
          {({ company }) => <Chart usage={company.usage} />}
        </Answered>
      ) : (
        <Empty>You need the permission View Statistics Overview to see usage.</Empty>
      )}
    </Panel>
  );
}

function Chart({ usage }: { usage: Usage }) {
  useSystem();
  const { company } = useViewer();
  const { times, series, before } = useMemo(() => draw(usage), [usage]);
  const total = Number(usage.totals.total);
  if (total === 0 && before === 0) return <Empty>No usage has been recorded in this billing period or the one before.</Empty>;
  const sum = bytes(total);
  return (
    <>
      <div className="figures">
        <Figure name="Total" text={sum} note={comparison(total, before)} />
        <Figure name="Received (MT)" text={bytes(usage.totals.mobileTerminated)} />
        <Figure name="Sent (MO)" text={bytes(usage.totals.mobileOriginated)} />
        <Figure name="Sessions" text={count(usage.totals.sessions)} />
      </div>
      <Plot label={`Usage by day: ${sum} in this period so far, ${bytes(before)} by the same time of the period before.`} times={times} series={series} bytes timeZone={company.timeZone} height={260} />
      {usage.dataCompleteUntil && <p className="hint">Complete until {moment(usage.dataCompleteUntil, company.timeZone)} ({company.timeZone}).</p>}
    </>
  );
}

const Figure = ({ name, text, note }: { name: string; text: string; note?: string }) => (
  <div>
    <span className="hint">{name}</span>
    <strong>{text}</strong>
    {note && <span className="hint">{note}</span>}
  </div>
);

function comparison(total: number, before: number): string {
  const by = change(total, before);
  return by === null ? 'nothing to compare with' : `${by} on the period before, to the same time`;
}

/** The days of the period on the axis; the period before lies over them day by day. */
function draw({ series: points, previous, dataCompleteUntil }: Usage): { times: number[]; series: Series[]; before: number } {
  const known = past(points);
  const over = points.map((_, i) => (previous.series[i] ? Number(previous.series[i].total) : null));
  return {
    times: timesOf(points),
    series: [...stacked(points.map((_, i) => known[i])), { label: 'Period before', values: over, kind: 'dashed', color: '--series-past' }],
    before: sumTo(known, previous.series, Date.parse(dataCompleteUntil ?? new Date().toISOString())),
  };
}

const dayLength = 86_400_000;

/** What the period before had used by the same time: of the day that runs, the share that is known. */
function sumTo(known: Point[], before: Point[], until: number): number {
  return before.slice(0, known.length).reduce((all, { total }, i) => {
    const share = (until - Date.parse(known[i]!.start)) / dayLength;
    return all + Number(total) * Math.min(1, Math.max(0, share));
  }, 0);
}
