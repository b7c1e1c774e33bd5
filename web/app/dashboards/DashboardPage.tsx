import { Suspense, useEffect, useMemo, useState } from 'react';
import { momentInZone } from '../format/time';
import { Problem, problemOf } from '../graph/problem';
import { mutate, readNow, refresh, useAsk, useDo } from '../graph/use';
import { DayField } from '../picker/Date';
import { Empty, Failure, Loading } from '../shell/parts';
import { part } from '../shell/part';
import { go, to } from '../shell/route';
import { useUnsaved } from '../shell/unsaved';
import { useMay, useViewer } from '../shell/viewer';
import { History } from '../ui/History';
import { Printed } from '../ui/Printed';
import { Choice, lastWeekOf, Subject } from '../usage/Controls';
import { spans } from '../usage/question';
import { SendForm } from '../usage/Reports';
import { added, type Board, boardOf, type Common, commonFault, commonOf, mostTiles, nothing, overview, overviewId, type Place, sameCommon, settled, type Tile, tileInput } from './board';
import { AddTile, addressOf, CreateForm, TileTools } from './Forms';
import { edit, type Kept, one } from './kept';
import { TileView } from './TileView';
import '../styles/lists.css';
import '../styles/usage.css';
import '../styles/dashboards.css';

const Grid = part(() => import('./Grid'));

/** A dashboard: its tiles, and what they have in common, which stands in the address. */
export default function DashboardPage({ id, params }: { id: string; params: URLSearchParams }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const isReady = id === overviewId;
  const asked = useAsk(may && !isReady ? one : null, { dashboardId: id });
  const kept = isReady ? null : (asked.data?.dashboard ?? null);
  if (!may) return <Page><Empty>You need the permission View Statistics Overview to see dashboards.</Empty></Page>;
  if (isReady) return <Opened id={id} kept={null} params={params} />;
  if (kept) return <Opened id={id} kept={kept} params={params} />;
  return (
    <Page>
      {asked.problem ? <Failure problem={asked.problem} retry={asked.reload} /> : asked.data
        ? <Empty>There is no such dashboard, or it is not shared with you. <a href={to('dashboards')}>All dashboards</a></Empty>
        : <Loading label="Reading the dashboard" />}
    </Page>
  );
}

const Page = ({ children }: { children: React.ReactNode }) => (
  <div className="page wide">
    <div className="heading"><h1>Dashboard</h1></div>
    {children}
  </div>
);

/** What is changed and not saved yet, with what it was before each step. */
interface Draft {
  board: Board;
  /** The version that it was made from. */
  version: string;
  past: Board[];
}

const refreshes: [string, string][] = [['1', 'every minute'], ['5', 'every 5 minutes'], ['15', 'every 15 minutes'], ['60', 'every hour']];

function Opened({ id, kept, params }: { id: string; kept: Kept | null; params: URLSearchParams }) {
  const { company, email } = useViewer();
  const maySee = useMay('VIEW_SUBSCRIBER');
  const saved = useMemo(() => (kept ? boardOf(kept) : maySee ? overview : { ...overview, tiles: settled(overview.tiles.filter(({ definition }) => definition?.split !== 'SUBSCRIBER')) }), [kept, maySee]);
  const savedCommon: Common = kept?.common ?? nothing;
  const common = useMemo(() => commonOf(params, savedCommon), [params, savedCommon]);
  const [draft, setDraft] = useState<Draft | null>(() => (kept?.isEditable && params.has('edit') ? { board: saved, version: kept.version, past: [] } : null));
  const [open, setOpen] = useState<'copy' | 'add' | 'send' | null>(null);
  const [reading, readAt, readAgain] = useReading((draft?.board ?? saved).refreshMinutes, draft !== null);
  const isWall = params.has('wall');
  useWall(isWall);
  const board = draft?.board ?? saved;
  const isChanged = draft !== null && (draft.past.length > 0 || !sameCommon(common, savedCommon));
  useUnsaved(draft !== null && draft.past.length > 0);
  const change = (part: Partial<Board>) => draft && setDraft({ ...draft, board: { ...draft.board, ...part }, past: [...draft.past, draft.board] });
  const undo = () => draft && setDraft({ ...draft, board: draft.past.at(-1)!, past: draft.past.slice(0, -1) });
  const stop = () => {
    setDraft(null);
    save.clear();
    go(to('dashboard', {}, id));
  };
  const setCommon = (part: Partial<Common>) => {
    const next = { ...common, ...part };
    go(addressOf(id, next.span === 'DAYS' ? next : { ...next, firstDay: null, lastDay: null }, isWall ? { wall: '1' } : {}));
  };
  const save = useDo(async (over: boolean) => {
    const { name, description, folder, isShared, refreshMinutes, tiles } = draft!.board;
    const version = over ? (await readNow(one, { dashboardId: id })).dashboard?.version : draft!.version;
    const input = { dashboardId: id, expectedVersion: version, name: name.trim(), description: description.trim(), folder: folder.trim(), isShared, refreshMinutes, common, tiles: tiles.map(tileInput) };
    try {
      await mutate(edit, { input });
    } catch (error) {
      throw problemOf(error).code === 'STALE' ? new Problem('STALE', 'Somebody else has saved the dashboard. Nothing of yours is saved yet.') : error;
    }
    await refresh();
    stop();
  });
  const place = (places: Map<string, Place>) => change({ tiles: settled(board.tiles.map((tile) => ({ ...tile, ...places.get(tile.key) }))) });
  const removeTile = (key: string) => change({ tiles: settled(board.tiles.filter((tile) => tile.key !== key)) });
  const begin = (without?: string) => {
    const tiles = without === undefined ? saved.tiles : settled(saved.tiles.filter(({ key }) => key !== without));
    setDraft({ board: { ...saved, tiles }, version: kept!.version, past: without === undefined ? [] : [saved] });
  };
  const fault = commonFault(common);
  const unshared = draft?.board.isShared ? board.tiles.filter(({ question }) => question && !question.isShared).length : 0;
  return (
    <div className={`page wide usage dashboard${isWall ? ' on-wall' : ''}`}>
      <div className="heading">
        <div>
          <h1>{board.name}</h1>
          {board.description && <p className="hint">{board.description}</p>}
        </div>
        <div className="row no-print">
          {draft ? (
            <>
              <button type="button" disabled={draft.past.length === 0} onClick={undo}>Undo</button>
              <button type="button" onClick={stop}>Cancel</button>
              <button type="button" className="primary" disabled={!isChanged || save.busy || board.name.trim() === '' || fault !== null} onClick={() => void save.run(false)}>Save</button>
            </>
          ) : (
            <>
              {kept && <History of={kept.dashboardId} />}
              {kept && <button type="button" onClick={() => setOpen('send')}>Send by mail…</button>}
              <button type="button" onClick={() => print()}>Print</button>
              <button type="button" onClick={() => go(addressOf(id, common, isWall ? {} : { wall: '1' }))}>{isWall ? 'Leave full screen' : 'Full screen'}</button>
              <button type="button" className={kept?.isEditable ? undefined : 'primary'} onClick={() => setOpen('copy')}>{kept?.isEditable ? 'Copy' : 'Copy and change'}</button>
              {kept?.isEditable && <button type="button" className="primary" onClick={() => begin()}>Edit</button>}
            </>
          )}
        </div>
      </div>
      <div className="controls" role="group" aria-label="Of all tiles">
        <Choice name="Span" words={spans} value={common.span} none="that of each tile" set={(span) => setCommon({ span, ...(span === 'DAYS' ? lastWeekOf() : {}) })} />
        {common.span === 'DAYS' && (
          <>
            <DayField label="First day" isControl value={common.firstDay ?? ''} change={(firstDay) => setCommon({ firstDay: firstDay || null })} />
            <DayField label="Last day" isControl value={common.lastDay ?? ''} change={(lastDay) => setCommon({ lastDay: lastDay || null })} />
          </>
        )}
        <div className="control">
          <span>Of</span>
          <Subject of={common} none="as each tile says" set={setCommon} />
        </div>
        {!draft && <button type="button" className="quiet no-print" onClick={readAgain}>Read again</button>}
      </div>
      {draft && (
        <div className="controls settings" role="group" aria-label="The dashboard">
          <label className="control"><span>Name</span><input required maxLength={256} value={board.name} onChange={(event) => change({ name: event.target.value })} /></label>
          <label className="control"><span>What it is for</span><input maxLength={2000} value={board.description} onChange={(event) => change({ description: event.target.value })} /></label>
          <label className="control"><span>Folder</span><input maxLength={256} placeholder="None" value={board.folder} onChange={(event) => change({ folder: event.target.value })} /></label>
          <Choice name="Read again" words={refreshes} value={board.refreshMinutes > 0 ? String(board.refreshMinutes) : null} none="never" set={(minutes) => change({ refreshMinutes: Number(minutes ?? 0) })} />
          <label className="inline"><input type="checkbox" checked={board.isShared} disabled={kept?.owner !== email && saved.isShared} onChange={(event) => change({ isShared: event.target.checked })} /> Share it with the company</label>
          <button type="button" disabled={board.tiles.length >= mostTiles} onClick={() => setOpen('add')}>Add a tile</button>
        </div>
      )}
      {unshared > 0 && <p className="hint">{unshared === 1 ? 'One tile shows a question that is' : `${unshared} tiles show questions that are`} private to you. Others see an empty tile.</p>}
      {save.problem && (
        <Failure problem={save.problem} more={save.problem.code === 'STALE' && (
          <>
            <button type="button" onClick={stop}>Take theirs</button>
            <button type="button" onClick={() => void save.run(true)}>Keep mine</button>
          </>
        )} />
      )}
      <Printed at={readAt} />
      {fault !== null ? <Empty>{fault}</Empty> : board.tiles.length === 0 ? <Empty>This dashboard has no tiles yet. {kept?.isEditable && !draft && <button type="button" className="quiet" onClick={() => begin()}>Edit</button>}</Empty> : (
        <Suspense fallback={<Loading label="Opening the grid" />}>
          <Grid tiles={board.tiles} place={draft ? place : null}>
            {(tile: Tile) => (
              <TileView
                of={tile} common={common} reading={reading}
                tools={draft && (
                  <div className="tile-change">
                    <TileTools of={tile} tiles={board.tiles} change={(tiles) => change({ tiles })} />
                    <button type="button" className="quiet" onClick={() => removeTile(tile.key)}>Remove</button>
                  </div>
                )}
                remove={draft ? undefined : kept?.isEditable ? () => begin(tile.key) : undefined}
              />
            )}
          </Grid>
        </Suspense>
      )}
      <p className="hint">Read at {momentInZone(readAt, company.timeZone)}.{board.refreshMinutes > 0 && !draft && ` Read again ${refreshes.find(([minutes]) => minutes === String(board.refreshMinutes))?.[1] ?? `every ${board.refreshMinutes} minutes`}.`}</p>
      {open === 'copy' && <CreateForm board={board} common={common} close={() => setOpen(null)} />}
      {open === 'send' && <SendForm topic={() => Promise.resolve({ dashboardId: id })} note={sameCommon(common, savedCommon) ? 'Its first 12 tiles are sent.' : 'It is sent with the span and the subject that are saved, not with those that you see now. Its first 12 tiles are sent.'} close={() => setOpen(null)} />}
      {open === 'add' && <AddTile add={(question, definition) => { change({ tiles: added(board.tiles, question, definition) }); setOpen(null); }} close={() => setOpen(null)} />}
    </div>
  );
}

/** Reads the answers again every so many minutes while the page is seen and not changed. Returns how often, and when last. */
function useReading(minutes: number, isPaused: boolean): [number, number, () => void] {
  const [{ reading, at }, setReading] = useState(() => ({ reading: 0, at: Date.now() }));
  const again = () => {
    setReading(({ reading }) => ({ reading: reading + 1, at: Date.now() }));
    void refresh();
  };
  useEffect(() => {
    if (minutes === 0 || isPaused) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), minutes * 60_000);
    return () => clearInterval(timer);
  }, [minutes, isPaused]);
  return [reading, at, again];
}

/** Fills the screen with the dashboard. Leaving the full screen of the browser, as by Escape, leaves it. */
function useWall(isOn: boolean) {
  useEffect(() => {
    if (!isOn) return;
    document.documentElement.classList.add('wall');
    // Where the address is opened, and nothing was clicked, the browser refuses.
    document.documentElement.requestFullscreen?.().catch(() => undefined);
    const leave = () => {
      if (!document.fullscreenElement) go(location.hash.replace(/([?&])wall=1&?/, '$1').replace(/[?&]$/, ''));
    };
    document.addEventListener('fullscreenchange', leave);
    return () => {
      document.removeEventListener('fullscreenchange', leave);
      document.documentElement.classList.remove('wall');
      if (document.fullscreenElement) void document.exitFullscreen();
    };
  }, [isOn]);
}
