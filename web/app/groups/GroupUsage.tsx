import { useMemo } from 'react';
import { periodSpan } from '../format/span';
import { bytes, count, useSystem } from '../format/units';
import { type Point, past, stacked, timesOf } from '../overview/usage';
import { Annotated } from '../notes/Annotated';
import { Empty, Panel } from '../shell/parts';
import { useViewer, useZone } from '../shell/viewer';
import { BySource, soFar, type UsageSubject } from '../sources/UsageBySource';

export interface Usage {
  totals: { total: string; mobileOriginated: string; mobileTerminated: string } | null;
  /** Sessions come by the day: without them, billing periods that are added up already have the totals. */
  series: (Point & { sessions: string })[] | null;
  previous: { totals: { total: string } | null };
}

/** The usage of a group or of a tag by the days of this billing period. */
export function GroupUsage({ of: { totals, series, previous }, name, subject }: { of: Usage; name: string; subject: UsageSubject }) {
  const timeZone = useZone();
  const { company: { currentPeriod } } = useViewer();
  useSystem();
  const drawn = useMemo(() => {
    const points = past(series);
    return { times: timesOf(points), series: stacked(points) };
  }, [series]);
  const span = useMemo(() => soFar(periodSpan(currentPeriod)), [currentPeriod]);
  const total = Number(totals?.total ?? 0);
  const before = Number(previous.totals?.total ?? 0);
  return (
    <Panel id="usage" title="Usage this billing period">
      {totals && total === 0 ? <Empty>No usage in this billing period{before > 0 && `; ${bytes(before)} in the one before`}.</Empty> : (
        <>
          {totals && <p><strong>{bytes(total)}</strong> <span className="hint">· {bytes(totals.mobileTerminated)} received, {bytes(totals.mobileOriginated)} sent{series && `, ${count(sessionsOf(series))} sessions`}{before > 0 && ` · ${bytes(before)} in the whole period before`}</span></p>}
          {series && <Annotated about={subject && 'groupId' in subject ? subject : {}} from={Date.parse(span.from)} to={Date.parse(span.to)} label={`Usage of ${name} by day: ${bytes(total)} in this period.`} times={drawn.times} series={drawn.series} bytes timeZone={timeZone} height={220} />}
          <BySource of={subject} span={span} />
        </>
      )}
    </Panel>
  );
}

const sessionsOf = (series: { sessions: string }[]) => series.reduce((sum, { sessions }) => sum + Number(sessions), 0);
