import { type FormEvent, useRef, useState } from 'react';
import { momentInZone } from '../format/time';
import { count } from '../format/units';
import { mutate, readNow, sendMutation, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useViewer } from '../shell/viewer';
import { create as keep, type Kept } from './kept';
import { type Definition, same } from './question';
import { create, edit, ends, every, frequencies, list, preview, remove, type Report, send } from './reports';

const hides = (reportId: string) => `report/${reportId}`;
const hours = Array.from({ length: 24 }, (_, hour) => hour);

interface QuestionProps {
  /** The kept question that the definition began as; null for none. */
  kept: Kept | null;
  definition: Definition;
  /** The question in words: its name where it is not kept yet. */
  words: string;
  close: () => void;
}

/** Sends the answer to a question by mail. One that is not kept yet is kept first. */
export function SendQuestion({ kept, definition, words, close }: QuestionProps) {
  const question = useRef(kept && same(kept.definition, definition) ? kept.questionId : null);
  const topic = async () => {
    question.current ??= (await mutate(keep, { input: { name: words.slice(0, 256), definition } })).createQuestion?.question.questionId ?? null;
    return { questionId: question.current! };
  };
  return <SendForm topic={topic} note={question.current === null && `The question is kept as “${words.slice(0, 256)}”.`} close={close} />;
}

interface FormProps {
  /** What is sent. */
  topic: () => Promise<{ questionId: string } | { dashboardId: string }>;
  note: React.ReactNode;
  close: () => void;
}

/** Sends what is asked by mail on a schedule. */
export function SendForm({ topic, note, close }: FormProps) {
  const { email, company, isRestricted } = useViewer();
  const [frequency, setFrequency] = useState<Report['frequency']>('DAILY');
  const [hour, setHour] = useState(7);
  const [recipients, setRecipients] = useState(email);
  const [isNow, setNow] = useState(false);
  const [seen, setSeen] = useState<{ subject: string; text: string } | null>(null);
  const shown = useDo(async () => setSeen((await readNow(preview, { ...(await topic()), frequency, hour })).previewReport));
  const save = useDo(async () => {
    const input = { ...(await topic()), frequency, hour, recipients: recipients.split(/[\s,;]+/).filter(Boolean) };
    const reportId = (await mutate(create, { input })).createReport?.report.reportId;
    if (isNow && reportId) await mutate(send, { input: { reportId } });
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title="Send by mail" cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>How often<select value={frequency} onChange={(event) => setFrequency(event.target.value as Report['frequency'])}>{frequencies.map(([key, name]) => <option key={key} value={key}>{name}</option>)}</select></label>
        <label>At ({company.timeZone})<select value={hour} onChange={(event) => setHour(Number(event.target.value))}>{hours.map((one) => <option key={one} value={one}>{String(one).padStart(2, '0')}:00</option>)}</select></label>
        <label>To<input autoFocus required value={recipients} onChange={(event) => setRecipients(event.target.value)} /></label>
        <p className="hint">{isRestricted ? 'Users of groups have reports sent to themselves.' : 'Addresses of users of the company or of recipients of alerts, with commas between them, at most 20. They get the answer as you see it.'}</p>
        <label className="inline"><input type="checkbox" checked={isNow} onChange={(event) => setNow(event.target.checked)} /> Send one now, too</label>
        {note && <p className="hint">{note}</p>}
        {seen && <section aria-label="Preview"><h3>{seen.subject}</h3><pre className="preview" tabIndex={0}>{seen.text}</pre></section>}
        {shown.problem && <Failure problem={shown.problem} />}
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="button" disabled={shown.busy} onClick={() => void shown.run()}>Preview</button>
          <button type="submit" className="primary" disabled={save.busy || recipients.trim() === ''}>Send by mail</button>
        </p>
      </form>
    </Dialog>
  );
}

/** The reports that are sent, with what became of them. */
export function Reports() {
  const asked = useAsk(list);
  const { hidden } = useUndo();
  const of = (asked.data ?? asked.former)?.company?.reports;
  const shown = of?.nodes.filter(({ reportId }) => !hidden.has(hides(reportId))) ?? [];
  if (asked.problem) return <Failure problem={asked.problem} retry={asked.reload} />;
  return (
    <Panel id="reports" title="Sent by mail">
      {of && shown.length === 0 && <Empty>Nothing is sent by mail yet. Ask a question or open a dashboard, and choose Send by mail.</Empty>}
      <ul className="plain-list">{shown.map((one) => <One key={one.reportId} of={one} />)}</ul>
      {of && (of.totalCount ?? 0) > of.nodes.length && <p className="hint">The newest {count(of.nodes.length)} of {count(of.totalCount ?? 0)}.</p>}
    </Panel>
  );
}

function One({ of }: { of: Report }) {
  const { company: { timeZone }, email } = useViewer();
  const stopped = of.isPaused || of.endedReason !== null;
  const name = (of.question ?? of.dashboard)?.name ?? 'What you do not see';
  const href = of.question ? to('usage', { question: of.questionId! }) : of.dashboard ? to('dashboard', {}, of.dashboardId!) : null;
  const pause = useDo(async () => {
    await mutate(edit, { input: { reportId: of.reportId, isPaused: !stopped } });
  });
  const now = useDo(async () => {
    await mutate(send, { input: { reportId: of.reportId } });
  });
  const drop = () => offerUndo({ hides: hides(of.reportId), text: `The report of ${name} is deleted.`, commit: () => sendMutation(remove, { input: { reportId: of.reportId } }, { keepalive: true }) });
  const wanted = of.recipients.filter((one) => !of.unsubscribed.includes(one));
  return (
    <li>
      {href ? <a href={href}>{name}</a> : name}{' '}
      <span className="hint">{every(of)} to {wanted.join(', ') || 'nobody'}{of.owner !== email && `, by ${of.owner || 'nobody who is known here'}`}</span>{' '}
      {of.endedReason ? <span className="badge">ended: {ends[of.endedReason]}</span> : of.isPaused ? <span className="badge">paused</span> : of.nextDueAt && <span className="hint">next {momentInZone(of.nextDueAt, timeZone)}</span>}{' '}
      {of.lastSentAt && <span className="hint">last {momentInZone(of.lastSentAt, timeZone)}</span>}{' '}
      {of.lastFailure && <span className="hint">failed: {of.lastFailure}</span>}{' '}
      {(of.isEditable || !stopped) && <button type="button" className="quiet" disabled={pause.busy} aria-label={`${stopped ? 'Go on with' : 'Pause'} the report of ${name}`} onClick={() => void pause.run()}>{stopped ? 'Go on' : 'Pause'}</button>}
      {of.isEditable && !stopped && <button type="button" className="quiet" disabled={now.busy} aria-label={`Send the report of ${name} now`} onClick={() => void now.run()}>Send now</button>}
      <button type="button" className="quiet" aria-label={`Delete the report of ${name}`} onClick={drop}>Delete</button>
      {pause.problem && <Failure problem={pause.problem} />}
      {now.problem && <Failure problem={now.problem} />}
    </li>
  );
}
