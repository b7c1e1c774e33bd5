import type { ReactNode } from 'react';
import type { Problem } from '../graph/problem';
import type { Asked } from '../graph/use';

/** Shown while something is under way. */
export const Loading = ({ label }: { label: string }) => (
  <p className="loading" role="status">
    <i aria-hidden="true" />
    {label} …
  </p>
);

interface FailureProps {
  problem: Problem;
  retry?: () => void;
  /** What is known beside the message. */
  note?: ReactNode;
  more?: ReactNode;
}

/** An error as people read it. Where the page is of another release, to try again does not help. */
export const Failure = ({ problem, note, ...rest }: FailureProps) => {
  const { retry, more } = problem.code === 'NEW_RELEASE' ? { more: <button type="button" onClick={() => location.reload()}>Load the new release</button> } : rest;
  return (
    <div className="failure" role="alert">
      <strong>{problem.title}</strong>
      <p>{problem.message}</p>
      {note}
      {problem.requestId && <p className="hint">Request {problem.requestId}</p>}
      {(retry || more) && (
        <p className="actions">
          {retry && <button type="button" onClick={retry}>Try again</button>}
          {more}
        </p>
      )}
    </div>
  );
};

interface PanelProps {
  title: ReactNode;
  /** What stands before the title, such as the filter of a list. */
  before?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  id: string;
}

/** A part of the overview with its heading. */
export const Panel = ({ title, before, aside, children, id }: PanelProps) => (
  <section className="panel" aria-labelledby={`${id}-title`}>
    <header>
      {before}
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

interface AnsweredProps<T, P> {
  asked: Asked<T>;
  /** What is shown of the answer; null where it failed. */
  of: (data: T) => P | null | undefined;
  label: string;
  rows?: number;
  children: (part: P) => ReactNode;
}

/**
 * Shows a part of the answer when it is there, and else why not. While another
 * question is under way, the former answer is shown dimmed; it never stands for
 * one that failed.
 */
export function Answered<T, P>({ asked: { data, former, problem, reload }, of, label, rows, children }: AnsweredProps<T, P>) {
  const whole = data ?? former;
  const part = whole === undefined ? undefined : of(whole);
  const retry = problem?.code === 'FORBIDDEN' ? undefined : reload;
  return (
    <div className="answered" aria-busy={former !== undefined && !problem}>
      {problem && <Failure problem={problem} retry={retry} />}
      {part !== undefined && part !== null && children(part)}
      {whole === undefined && !problem && <Waiting label={label} rows={rows} />}
    </div>
  );
}
