import { Entries as AlertEntries } from '../alerts/AlertLog';
import { Entries as AuditEntries } from '../audit/Audit';
import { useMay, useViewer } from '../shell/viewer';
import '../styles/lists.css';

/** What alerts fired for the subscriber, and who changed what of it. */
export function History({ physicalId }: { physicalId: string }) {
  const alerts = useMay('VIEW_MONITORING_ALERTS');
  const changes = useMay('VIEW_A_USERS_DETAILS');
  const { isRestricted } = useViewer();
  return (
    <>
      {alerts && <AlertEntries params={new URLSearchParams({ subscriber: physicalId })} />}
      {changes && !isRestricted && <AuditEntries title="Changes" params={new URLSearchParams({ subjectId: physicalId })} />}
    </>
  );
}
