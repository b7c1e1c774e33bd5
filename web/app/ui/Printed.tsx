import { momentInZone } from '../format/time';
import { useViewer } from '../shell/viewer';
import '../styles/print.css';

/** What stands on paper beside what the page shows: whose it is, of which billing period, and when it was read. */
export function Printed({ at = Date.now(), about }: { at?: number; about?: string }) {
  const { company, email } = useViewer();
  const { startsAt, endsAt } = company.currentPeriod;
  return (
    <p className="printed" aria-hidden="true">
      {company.name}{about && ` · ${about}`} · billing period {momentInZone(startsAt, company.timeZone)} to {momentInZone(endsAt, company.timeZone)} · printed for {email} at {momentInZone(at, company.timeZone)}
    </p>
  );
}
