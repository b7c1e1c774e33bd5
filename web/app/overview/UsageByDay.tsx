import { useMemo } from 'react';
import type { Series } from '../chart/Plot';
import { daysBetween, moment, startOfDay } from '../format/time';
import { bytes, change, count, useSystem } from '../format/units';
import { operation } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Annotated } from '../notes/Annotated';
import { Answered, Empty, Panel } from '../shell/parts';
import { type Period, useMay, useZone } from '../shell/viewer';
import { CSVButton } from './CSVButton';
import { type Point, past, point, rowsOf, stacked, type Totals, totals } from './usage';

interface Usage {
  period: Period;
  totals: Totals | null;
  series: Point[] | null;
  dataCompleteUntil: string | null;
  previous: { totals: Totals | null; series: Point[] | null } | null;
}

interface Answer {
  company: { usage: Usage | null } | null;
}

const query = operation(`query UsageByDay {
  company { usage {
    period { startsAt endsAt } totals { ${totals} } series(interval: DAY) { ${point} } dataCompleteUntil
    previous { totals { ${totals} } series(interval: DAY) { ${point} } }
  } }
}`);

/** What the chart is about: the company. */
const whole = {};

const usageOf = ({ company }: Answer) => company?.usage;

/** Usage of the current period by day, against the same days of the one before. */
export function UsageByDay() {
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const asked = useAsk<Answer>(may ? query : null);
  const usage = asked.data && usageOf(asked.data);
  const rows = usage ? rowsOf(past(usage.series)) : [];
  return (
    <Panel id="usage" title="Usage this billing period" aside={may && <CSVButton name="Usage by day" rows={rows} />}>
      {may ? (
        <Answered asked={asked} of={usageOf} label="Adding up usage" rows={6}>
          {(usage) => <Chart usage={usage} />}
        </Answered>
      ) : (
        <Empty>You need the permission View Statistics Overview to see usage.</Empty>
      )}
    </Panel>
  );
}

function Chart({ usage }: { usage: Usage }) {
  useSystem();
  const timeZone = useZone();
  const { times, series, before } = useMemo(() => draw(usage, timeZone), [usage, timeZone]);
  const total = Number(usage.totals?.total ?? 0);
  if (usage.totals && usage.series && total === 0 && before === 0) return <Empty>No usage has been recorded in this billing period or the one before.</Empty>;
  const sum = bytes(total);
  return (
    <>
      {usage.totals && (
        <div className="figures">
          <Figure name="Total" text={sum} note={usage.series && usage.previous?.series ? comparison(total, before) : undefined} />
          <Figure name="Received (MT)" text={bytes(usage.totals.mobileTerminated)} />
          <Figure name="Sent (MO)" text={bytes(usage.totals.mobileOriginated)} />
          <Figure name="Sessions" text={count(usage.totals.sessions)} />
        </div>
      )}
      {usage.series && <Annotated about={whole} from={Date.parse(usage.period.startsAt)} to={Date.parse(usage.period.endsAt)} label={`Usage by day: ${sum} in this period so far, ${bytes(before)} by the same time of the period before.`} times={times} series={series} bytes timeZone={timeZone} height={260} />}
      {usage.dataCompleteUntil && <p className="hint">Complete until {moment(usage.dataCompleteUntil, timeZone)}.</p>}
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

/** The days of the period on the axis; the period before lies over them day by day. A series ends with what is known. */
function draw({ period: { startsAt: start, endsAt: end }, series, previous, dataCompleteUntil }: Usage, timeZone: string): { times: number[]; series: Series[]; before: number } {
  const known = past(series);
  const former = previous?.series ?? [];
  const days = Array.from({ length: daysBetween(start, end, timeZone) + 1 }, (_, i) => startOfDay(Date.parse(start), timeZone, { days: i }));
  const shown = days.slice(0, -1);
  const over = shown.map((_, i) => (former[i] ? Number(former[i].total) : null));
  return {
    times: shown.map((at) => at / 1000),
    series: [...stacked(shown.map((_, i) => known[i])), { label: 'Period before', values: over, kind: 'dashed', color: '--series-past' }],
    before: sumTo(days, known.length, former, Date.parse(dataCompleteUntil ?? new Date().toISOString())),
  };
}

/** What the period before had used by the same time: of the day that runs, the share that is known. */
function sumTo(days: number[], known: number, before: Point[], until: number): number {
  return before.slice(0, known).reduce((all, { total }, i) => {
    const [start, end] = [days[i], days[i + 1]];
    const share = start === undefined || end === undefined ? 1 : (until - start) / (end - start);
    return all + Number(total) * Math.min(1, Math.max(0, share));
  }, 0);
}
