import { day, daysBetween } from '../format/time';
import { useViewer } from '../shell/viewer';
import { SearchBox } from './SearchBox';

/** Whose fleet it is, where the billing period stands, and the search. */
export function Heading() {
  const { company } = useViewer();
  const { timeZone, currentPeriod: { startsAt: start, endsAt: end } } = company;
  const length = daysBetween(start, end, timeZone);
  const today = Math.min(length, daysBetween(start, Date.now(), timeZone) + 1);
  return (
    <div className="heading">
      <div>
        <h1>{company.name}</h1>
        <p className="hint">
          Billing period {day(start, timeZone)} – {day(Date.parse(end) - 1, timeZone)} · day {today} of {length} · {timeZone}
        </p>
      </div>
      <SearchBox />
    </div>
  );
}
