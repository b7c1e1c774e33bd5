import { count } from '../format/units';

const states: Record<string, { name: string; badge: string }> = {
  CHECKING: { name: 'checking', badge: 'lower' },
  CHECKED: { name: 'checked', badge: '' },
  REJECTED: { name: 'rejected', badge: 'upper' },
  RUNNING: { name: 'running', badge: 'lower' },
  DONE: { name: 'done', badge: 'good' },
  CANCELLED: { name: 'cancelled', badge: '' },
};

export const State = ({ of }: { of: string }) => <span className={`badge ${states[of]?.badge ?? ''}`}>{states[of]?.name ?? of.toLowerCase()}</span>;

export const runs = (state: string) => state === 'CHECKING' || state === 'RUNNING';

/** What becomes of the others when rows fail, by the policy. */
export const policies = {
  REJECT_EVERYTHING: 'Change nothing when one fails',
  REJECT_FAILED_ROWS: 'Change the others when some fail',
  IGNORE_FAILED: 'Make whatever is possible',
} as const;

export type Policy = keyof typeof policies;

interface Counted {
  state: string;
  isDryRun: boolean;
  total: number;
  done: number;
  created: number;
  changed: number;
  removed: number;
  failed: number;
  skipped: number;
}

/** The counts of an operation in words. */
export function countsOf({ state, isDryRun, created, changed, removed, failed, skipped, done }: Counted): string {
  const would = isDryRun || state === 'CHECKING' || state === 'REJECTED';
  const unchanged = done - created - changed - removed - failed - skipped;
  return [
    ...(created > 0 ? [`${count(created)} ${would ? 'would be created' : 'created'}`] : []),
    ...(changed > 0 || created + removed === 0 ? [`${count(changed)} ${would ? 'would change' : 'changed'}`] : []),
    ...(removed > 0 ? [`${count(removed)} removed`] : []),
    ...(unchanged > 0 ? [`${count(unchanged)} as wanted already`] : []),
    ...(skipped > 0 ? [`${count(skipped)} skipped`] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
  ].join(', ');
}

interface Change {
  field: string;
  before: string | null;
  after: string | null;
}

/** What changed, in words. */
export const wordsOf = (changes: Change[]): string => changes.map(({ field, before, after }) => `${field}: ${before ?? 'nothing'} → ${after ?? 'nothing'}`).join('; ') || '–';

/** How far an operation is. */
export function Progress({ of }: { of: Counted }) {
  const { total, done } = of;
  return (
    <div className="progress">
      <progress aria-label="Progress" max={Math.max(total, 1)} value={done} />
      <p role="status"><span className="done">{count(done)} of {count(total)}</span> · {countsOf(of)}</p>
    </div>
  );
}

/** What the run of a dry run does, in words. */
export const doing = ({ created, changed }: { created: number; changed: number }) =>
  [...(created > 0 ? [`Create ${count(created)}`] : []), ...(changed > 0 || created === 0 ? [`${created > 0 ? 'change' : 'Change'} ${count(changed)}`] : [])].join(', ');
