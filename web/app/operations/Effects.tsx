import { count } from '../format/units';
import { to } from '../shell/route';
import { useViewer } from '../shell/viewer';
import { type OperationRead } from './operation';

const many = (n: number, one: string, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

type Counts = NonNullable<OperationRead['effects']>;

/** What an operation sets off, in words; of a dry run what it would. */
export function wordsOfEffects({ alerts, recipients, webhookMessages, commands }: Counts, would: boolean): string {
  const parts = [
    alerts === 0 ? 'no alert' : many(alerts, 'alert'),
    ...(recipients ? [`mails to ${many(recipients, 'recipient')}`] : []),
    ...(webhookMessages ? [many(webhookMessages, 'webhook message')] : []),
    ...(commands > 0 ? [`${many(commands, 'command')} to carriers`] : []),
  ];
  return `${would ? 'Would set off' : 'Set off'} ${parts.join(', ')}.`;
}

/** What a dry run says that a run sets off, with the choice to notify nobody meanwhile. */
export function Forecast({ of, isSilent, silence }: { of: OperationRead; isSilent: boolean; silence: (on: boolean) => void }) {
  const { permissions, isRestricted } = useViewer();
  const { effects } = of;
  if (!effects) return null;
  return (
    <div className={effects.alerts + effects.commands > 0 ? 'notice' : 'hint'}>
      <p>{wordsOfEffects(effects, true)}{effects.alerts > 0 && ' Undoing takes none of it back.'}</p>
      {effects.alerts > 0 && !isRestricted && permissions.includes('ADD_MONITORING_ALERTS') && (
        <label className="inline">
          <input type="checkbox" checked={isSilent} onChange={(event) => silence(event.target.checked)} />
          {of.total > 100 ? 'Silence the groups that they move into while it runs' : 'Silence these subscribers while it runs'}
        </label>
      )}
    </div>
  );
}

/** What an operation has set off, which undoing does not take back. */
export function SetOff({ of: { effects, isDryRun, silence, undoableUntil } }: { of: OperationRead }) {
  if (!effects) return null;
  const some = effects.alerts + effects.commands > 0;
  return (
    <>
      <div><dt>{isDryRun ? 'A run' : 'Beside it'}</dt><dd>{wordsOfEffects(effects, isDryRun)}{some && undoableUntil !== null && ' Undo does not take that back: alerts stay in the log, what was sent stays sent.'}</dd></div>
      {silence && <div><dt>Silenced by</dt><dd><a href={to('silences')}>{silence.reason}</a></dd></div>}
    </>
  );
}
