import { useState } from 'react';
import { moment } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { useRefreshed } from './PagedPanel';
import { UpstreamForm, useMayChangeUpstreams } from './UpstreamForm';
import { resources, sides, UpstreamState } from './words';
import '../styles/lists.css';
import '../styles/sources.css';

const query = graphql(`
  query UpstreamOnPage($upstreamId: Int!) {
    upstream(by: {upstreamId: $upstreamId}) {
      upstreamId version name baseUrl sourceName nicknamesAndTags days currency isCopyingAlerts isCopyingRecipients state isPaused pausedAt createdAt dueAt lastSyncedAt lastSweptAt
      dataCompleteUntil progress { resource done total } lastError failedAt counts { subscribers missing records refused lowered } refusals
      removals { subscribers reason heldAt confirmedAt } writes { waiting refused refusals lastError retryAt }
    }
  }
`);
const pause = graphql('mutation PauseUpstream($input: PauseUpstreamInput!) { pauseUpstream(input: $input) { upstream { upstreamId } } }');
const resume = graphql('mutation ResumeUpstream($input: ResumeUpstreamInput!) { resumeUpstream(input: $input) { upstream { upstreamId } } }');
const sync = graphql('mutation SyncUpstream($input: SyncUpstreamInput!) { syncUpstream(input: $input) { upstream { upstreamId } } }');
const confirm = graphql('mutation ConfirmUpstreamRemovals($input: ConfirmUpstreamRemovalsInput!) { confirmUpstreamRemovals(input: $input) { upstream { upstreamId } } }');
const remove = graphql('mutation DeleteUpstream($input: DeleteUpstreamInput!) { deleteUpstream(input: $input) { upstream { upstreamId } } }');

export type Upstream = NonNullable<ResultOf<typeof query>['upstream']>;

/** The account of another server: how far it is read, and what is done with it. */
export default function UpstreamPage({ id }: { id: string }) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW') && !isRestricted;
  const known = /^\d{1,9}$/.test(id);
  const asked = useAsk(may && known ? query : null, { upstreamId: Number(id) });
  useRefreshed(asked, 3);
  const { data, problem, reload } = asked;
  return (
    <div className="page wide connecting">
      <p className="crumbs"><a href={to('sources')}>Sources</a></p>
      {!may && <Empty>Only users of the whole company with the permission View Statistics Overview see other accounts.</Empty>}
      {problem && <Failure problem={problem} retry={reload} more={<a href={to('sources')}>All sources</a>} />}
      {may && known && !data && !problem && <Loading label="Reading the account" />}
      {(!known || (data && !data.upstream)) && !problem && <Empty>There is no such account. <a href={to('sources')}>All sources</a></Empty>}
      {data?.upstream && <Whole of={data.upstream} />}
    </div>
  );
}

function Whole({ of }: { of: Upstream }) {
  const timeZone = useZone();
  const mayRun = useMay('VIEW_STATISTICS_OVERVIEW', 'MANAGE_INVENTORY', 'RECORD_USAGE');
  const mayChange = useMayChangeUpstreams();
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const { upstreamId, name, isPaused } = of;
  const turn = useDo(async () => void (await (isPaused ? mutate(resume, { input: { upstreamId } }) : mutate(pause, { input: { upstreamId } }))));
  const begin = useDo(async (sweep: boolean) => void (await mutate(sync, { input: { upstreamId, sweep } })));
  const drop = useDo(async () => {
    await mutate(remove, { input: { upstreamId } });
    go(to('sources'));
  });
  const close = () => setOpen(null);
  return (
    <>
      <div className="heading">
        <div>
          <h1 className="named">{name} <UpstreamState of={of} /></h1>
          <p className="hint">{of.baseUrl}; {of.lastSyncedAt ? <>read <Ago at={of.lastSyncedAt} /></> : 'not read yet'}{of.lastSweptAt && <>, all of it <Ago at={of.lastSweptAt} /></>}</p>
        </div>
        <div className="row">
          {mayRun && !isPaused && <button type="button" disabled={begin.busy} onClick={() => void begin.run(false)}>Read now</button>}
          {mayRun && !isPaused && <button type="button" disabled={begin.busy} onClick={() => void begin.run(true)}>Read all of it</button>}
          {mayRun && <button type="button" disabled={turn.busy} onClick={() => void turn.run()}>{isPaused ? 'Resume' : 'Pause'}</button>}
          {mayChange && <button type="button" aria-expanded={open === 'edit'} onClick={() => setOpen(open === 'edit' ? null : 'edit')}>Edit</button>}
          {mayRun && <button type="button" onClick={() => setOpen('delete')}>Delete</button>}
        </div>
      </div>
      {turn.problem && <Failure problem={turn.problem} />}
      {begin.problem && <Failure problem={begin.problem} />}
      {of.lastError !== null && <p className="notice" role="status">The last pass failed{of.failedAt && <> <Ago at={of.failedAt} /></>}: {of.lastError}{of.dueAt && <>. The next one begins at {moment(of.dueAt, timeZone)}.</>}</p>}
      {of.removals && <Removals of={of} removals={of.removals} />}
      {open === 'edit' && <Panel id="edit" title="Edit the account"><UpstreamForm of={of} verb="Save" done={close} cancel={<button type="button" onClick={close}>Cancel</button>} /></Panel>}
      <ul className="tiles five" aria-label="What passes found">
        {([['Subscribers', 'subscribers'], ['Missing there', 'missing'], ['Records booked', 'records'], ['Refused', 'refused'], ['Hours lowered there', 'lowered']] as const).map(([text, key]) => (
          <li key={key} className="tile"><div><span className="tile-name">{text}</span><strong>{count(of.counts[key])}</strong></div></li>
        ))}
      </ul>
      <Panel id="progress" title={of.state === 'SYNCING' ? 'How far the pass is' : 'How far the last pass came'}>
        {of.progress.length === 0 ? <Empty>No pass has begun.</Empty> : (
          <dl className="facts">
            {of.progress.map(({ resource, done, total }) => <div key={resource}><dt>{resources[resource]}</dt><dd>{count(done)}{total !== null && ` of ${count(total)}`}</dd></div>)}
          </dl>
        )}
      </Panel>
      <Panel id="facts" title="The account">
        <dl className="facts">
          <div><dt>Usage</dt><dd>source {of.sourceName}, the last {count(of.days)} days{of.dataCompleteUntil && <>, known until {moment(of.dataCompleteUntil, timeZone)}</>}</dd></div>
          <div><dt>Nicknames and tags</dt><dd>{sides[of.nicknamesAndTags]}</dd></div>
          <div><dt>Alerts</dt><dd>{of.isCopyingAlerts ? 'copied' : 'not copied'}, recipients {of.isCopyingRecipients ? 'copied: both sides send mail' : 'not copied'}</dd></div>
          <div><dt>Tariffs</dt><dd>in {of.currency}</dd></div>
          <div><dt>Created</dt><dd>{moment(of.createdAt, timeZone)}</dd></div>
        </dl>
      </Panel>
      {of.nicknamesAndTags === 'WRITTEN_THROUGH' && <Writes of={of.writes} />}
      {of.refusals.length > 0 && <Panel id="refusals" title="What could not be stored"><ul className="plain-list">{of.refusals.map((text) => <li key={text}>{text}</li>)}</ul></Panel>}
      {open === 'delete' && (
        <Dialog title={`Delete ${name}?`} cancel={close}>
          <p>It is not read any more, and its key is forgotten. What it brought stays.</p>
          {drop.problem && <Failure problem={drop.problem} />}
          <p className="actions">
            <button type="button" autoFocus onClick={close}>Keep it</button>
            <button type="button" className="danger" disabled={drop.busy} onClick={() => void drop.run()}>Delete the account</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** The question whether many subscribers are made inactive. */
function Removals({ of: { upstreamId, isPaused }, removals: { subscribers, reason, heldAt, confirmedAt } }: { of: Upstream; removals: NonNullable<Upstream['removals']> }) {
  const mayConfirm = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER', 'MANAGE_INVENTORY', 'RECORD_USAGE');
  const yes = useDo(async () => void (await mutate(confirm, { input: { upstreamId, subscribers } })));
  return (
    <Panel id="removals" title={`Make ${count(subscribers)} subscribers inactive?`}>
      <p>Since <Ago at={heldAt} />: {reason}. If the access key sees less of the other server than before, edit the account and give it another key.</p>
      {yes.problem && <Failure problem={yes.problem} />}
      {confirmedAt !== null && <p className="hint" role="status">Confirmed <Ago at={confirmedAt} />: the next reading of all of it does it.</p>}
      {confirmedAt === null && mayConfirm && !isPaused && (
        <p className="actions"><button type="button" className="danger" disabled={yes.busy} onClick={() => void yes.run()}>Make {count(subscribers)} subscribers inactive</button></p>
      )}
    </Panel>
  );
}

/** The edits that are sent to the other server. */
function Writes({ of: { waiting, refused, refusals, lastError, retryAt } }: { of: Upstream['writes'] }) {
  const timeZone = useZone();
  return (
    <Panel id="writes" title="Edits that are sent there">
      <dl className="facts">
        <div><dt>Waiting</dt><dd>{count(waiting)}</dd></div>
        <div><dt>Refused in the last week</dt><dd>{count(refused)}</dd></div>
      </dl>
      {lastError !== null && <p className="notice" role="status">None could be sent: {lastError}{retryAt !== null && <>. They are sent again at {moment(retryAt, timeZone)}</>}.</p>}
      {refusals.length > 0 && <ul className="plain-list">{refusals.map((text) => <li key={text}>{text}</li>)}</ul>}
    </Panel>
  );
}
