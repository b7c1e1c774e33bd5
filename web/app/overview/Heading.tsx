import { day } from '../format/time';
import { useViewer } from '../shell/viewer';
import { SearchBox } from './SearchBox';

const dayLength = 86_400_000;

/** Whose fleet it is, where the billing period stands, and the search. */
export function Heading() {
  const { company } = useViewer();
  const { start, end } = company.currentPeriod;
  const length = Math.round((Date.parse(end) - Date.parse(start)) / dayLength);
  const today = Math.min(length, Math.floor((Date.now() - Date.parse(start)) / dayLength) + 1);
  const last = new Date(Date.parse(end) - 1);
  return (
    <div className="heading">
      <div>
        <h1>{company.name}</h1>
        <p className="hint">
          Billing period {day(start, company.timeZone)} – {day(last, company.timeZone)} · day {today} of {length} · {company.timeZone}
        </p>
      </div>
      <SearchBox />
    </div>
  );
}
