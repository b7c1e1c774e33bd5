import { moment } from '../format/time';
import { useZone } from '../shell/viewer';
import type { Silence } from './Silences';

/** When silences silence on the days between the given midnights, a row for each. */
export function Strip({ days, silences }: { days: number[]; silences: readonly Silence[] }) {
  const timeZone = useZone();
  const first = days[0]!;
  const length = days.at(-1)! - first;
  const place = (at: number) => `${((at - first) / length) * 100}%`;
  const part = (at: number, options: Intl.DateTimeFormatOptions) => new Date(at).toLocaleDateString('en-GB', { ...options, timeZone });
  return (
    <div className="strip">
      <div className="strip-days" aria-hidden="true">
        {days.slice(0, -1).map((at) => <span key={at} style={{ left: place(at) }}>{part(at, { weekday: 'short' }).slice(0, 2)}<b>{part(at, { day: 'numeric' })}</b></span>)}
      </div>
      <ul aria-label={`When silences silence until ${moment(days.at(-1)!, timeZone)}`}>
        {silences.map(({ silenceId, reason, occurrences }) => (
          <li key={silenceId}>
            <span className="strip-name" title={reason}>{reason}</span>
            <div className="strip-track">
              <i className="now" style={{ left: place(Date.now()) }} />
              {occurrences?.map(({ startsAt: start, endsAt: end }) => {
                const text = `${moment(start, timeZone)} to ${moment(end, timeZone)}`;
                const from = Math.max(Date.parse(start), first);
                return <span key={start} role="img" aria-label={text} title={text} className="strip-bar" style={{ left: place(from), width: `${((Date.parse(end) - from) / length) * 100}%` }} />;
              })}
              {occurrences?.length === 0 && <span className="visually-hidden">not on these days</span>}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
