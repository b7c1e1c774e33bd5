import { useMemo } from 'react';
import type { Result } from './ask';

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const hours = Array.from({ length: 24 }, (_, i) => i);

/** The hours of the week: rows are weekdays from Monday on, columns the hours that the clocks of the zone showed. */
export function weekOf({ times, parts }: Result, timeZone: string): number[][] {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long', hour: '2-digit', hourCycle: 'h23' });
  const week = weekdays.map(() => hours.map(() => 0));
  times.forEach((at, i) => {
    const { weekday, hour } = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]));
    week[weekdays.indexOf(weekday!)]![Number(hour)]! += parts[0]?.values[i] ?? 0;
  });
  return week;
}

const isNight = (hour: number) => hour >= 22 || hour < 6;
const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);

/** The hours of the day by the days of the week; what is darker is more. */
export function HeatMap({ result, timeZone, write }: { result: Result; timeZone: string; write: (value: number) => string }) {
  const week = useMemo(() => weekOf(result, timeZone), [result, timeZone]);
  const most = Math.max(...week.flat(), 1);
  const nights = sum(week.map((day) => sum(day.filter((_, hour) => isNight(hour)))));
  const all = sum(week.flat());
  return (
    <>
      <p className="hint">Nights (22 to 6): <strong>{write(nights)}</strong>{all > 0 && `, ${Math.round((nights / all) * 100)} %`}. Days: <strong>{write(all - nights)}</strong>. Hours by the clocks of {timeZone}: an hour that the clocks showed twice has both, one that they skipped has none.</p>
      <div className="table-scroll" role="region" aria-label="Hours of the week" tabIndex={0}>
        <table className="heat">
          <caption className="visually-hidden">By hour of the day and day of the week</caption>
          <thead><tr><th scope="col">Day</th>{hours.map((hour) => <th key={hour} scope="col">{hour}</th>)}</tr></thead>
          <tbody>
            {week.map((day, i) => (
              <tr key={weekdays[i]}>
                <th scope="row">{weekdays[i]!.slice(0, 3)}</th>
                {day.map((value, hour) => (
                  <td key={hour} title={`${weekdays[i]} ${hour}:00: ${write(value)}`} style={{ background: `color-mix(in srgb, var(--series-1) ${Math.round((value / most) * 100)}%, var(--sunken))` }}>
                    <span className="visually-hidden">{write(value)}</span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
