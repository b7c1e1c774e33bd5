import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';

/** The changes of something in the audit log, for those who may read it. */
export function History({ of }: { of: string }) {
  const { isRestricted } = useViewer();
  if (!useMay('VIEW_A_USERS_DETAILS') || isRestricted) return null;
  return <a className="button quiet" href={to('audit', { subjectId: of })}>History</a>;
}
