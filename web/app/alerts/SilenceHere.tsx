import { Suspense, useEffect, useState } from 'react';
import { moment } from '../format/time';
import { graphql } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { part } from '../shell/part';
import { Failure } from '../shell/parts';
import { to } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { covers, type Place } from './silences';

const here = graphql(`
  query SilencesHere {
    silences(first: 100, filter: { isEnded: { eq: false } }) { nodes { silenceId reason alertIds groupIds tagNames physicalIds startsAt endsAt isActive } }
  }
`);
const end = graphql('mutation EndSilence($input: EndSilenceInput!) { endSilence(input: $input) { silence { silenceId } } }');

/** Asks why, how long and, of several, which. Loaded when it is asked for. */
export const SilenceDialog = part(() => import('./SilenceDialog'));

const hour = 3_600_000;

/** Reports whether the viewer may make silences, which is for users of the whole company. */
export function useMaySilence(): boolean {
  const { isRestricted } = useViewer();
  return useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS', 'VIEW_SUBSCRIBER') && !isRestricted;
}

interface ButtonProps {
  of: Place[];
  className?: string;
}

/** Offers to silence a place, or one of several, where the viewer may. */
export function SilenceButton({ of, className }: ButtonProps) {
  const [open, setOpen] = useState(false);
  if (!useMaySilence() || of.length === 0) return null;
  return (
    <>
      <button type="button" className={className} aria-label={className ? `Silence ${of[0]!.name}` : undefined} onClick={() => setOpen(true)}>Silence</button>
      {open && <Suspense><SilenceDialog of={of} close={() => setOpen(false)} /></Suspense>}
    </>
  );
}

/** The silences that silence the place now, each with the way to end it. */
export function SilencedNow({ of }: { of: Place }) {
  const timeZone = useZone();
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_MONITORING_ALERTS') && !isRestricted;
  const mayEnd = useMay('VIEW_MONITORING_ALERTS', 'EDIT_MONITORING_ALERTS');
  const { data, former, reload } = useAsk(may ? here : null);
  const [ending, setEnding] = useState<number | null>(null);
  const now = ((data ?? former)?.silences?.nodes ?? []).filter(({ isActive, endsAt }) => isActive && Date.parse(endsAt) > Date.now());
  const found = now.map((one) => ({ ...one, covered: covers(one, of) })).filter(({ covered }) => covered !== 'nothing');
  const next = Math.min(...found.map(({ endsAt }) => Date.parse(endsAt)));
  useEffect(() => {
    if (next - Date.now() > 24 * hour) return;
    const timer = setTimeout(reload, next - Date.now() + 1_000);
    return () => clearTimeout(timer);
  }, [next, reload]);
  return found.map(({ silenceId, reason, endsAt, covered }) => (
    <p key={silenceId} className="notice row" role="status">
      <span className="grow">{covered === 'all' ? 'Silenced' : 'Silenced in part'} until {moment(endsAt, timeZone)}: <a href={to('silences')}>{reason}</a></span>
      {mayEnd && <button type="button" className="quiet" onClick={() => setEnding(silenceId)} aria-label={`End the silence ${reason}`}>End</button>}
      {ending === silenceId && <EndSilence silenceId={silenceId} begun close={() => setEnding(null)} />}
    </p>
  ));
}

/** Asks whether to end a silence, or to remove one that has not begun. */
export function EndSilence({ silenceId, begun, close }: { silenceId: number; begun: boolean; close: () => void }) {
  const run = useDo(async () => {
    await mutate(end, { input: { silenceId } });
    close();
  });
  return (
    <Dialog title={begun ? 'End this silence now?' : 'Remove this silence?'} cancel={close}>
      <p>{begun ? 'Alerts that fire from now on are notified of again. What fired meanwhile stays unsent.' : 'It has not begun, and will not.'}</p>
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Keep it</button>
        <button type="button" className="danger" disabled={run.busy} onClick={() => void run.run()}>{begun ? 'End the silence' : 'Remove the silence'}</button>
      </p>
    </Dialog>
  );
}
