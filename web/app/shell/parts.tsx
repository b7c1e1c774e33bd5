import type { ReactNode } from 'react';
import type { Problem } from '../graph/problem';

/** Says that something is on its way. */
export const Loading = ({ label }: { label: string }) => (
  <p className="loading" role="status">
    <i aria-hidden="true" />
    {label} …
  </p>
);

interface FailureProps {
  problem: Problem;
  retry?: () => void;
  more?: ReactNode;
}

/** An error as people read it. */
export const Failure = ({ problem, retry, more }: FailureProps) => (
  <div className="failure" role="alert">
    <strong>{problem.title}</strong>
    <p>{problem.message}</p>
    {problem.requestId && <p className="hint">Request {problem.requestId}</p>}
    {(retry || more) && (
      <p className="actions">
        {retry && <button type="button" onClick={retry}>Try again</button>}
        {more}
      </p>
    )}
  </div>
);

interface PanelProps {
  title: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  id: string;
}

/** A part of the overview with its heading. */
export const Panel = ({ title, aside, children, className = '', id }: PanelProps) => (
  <section className={`panel ${className}`} aria-labelledby={`${id}-title`}>
    <header>
      <h2 id={`${id}-title`}>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

export const Empty = ({ children }: { children: ReactNode }) => <p className="empty">{children}</p>;

/** Grey bars where rows are about to appear. */
export const Waiting = ({ rows = 4, label }: { rows?: number; label: string }) => (
  <div className="waiting" role="status" aria-label={`${label} …`}>
    {Array.from({ length: rows }, (_, i) => <i key={i} style={{ width: `${92 - i * 9}%` }} />)}
  </div>
);

/** Shows data when it is there, and else why not. */
export function Answered<T>({ asked, label, rows, children }: { asked: { data: T | undefined; problem: Problem | undefined; reload: () => void }; label: string; rows?: number; children: (data: T) => ReactNode }) {
  if (asked.data !== undefined) return <>{children(asked.data)}</>;
  if (asked.problem) return <Failure problem={asked.problem} retry={asked.problem.code === 'FORBIDDEN' ? undefined : asked.reload} />;
  return <Waiting label={label} rows={rows} />;
}
