import { useState } from 'react';
import { count } from '../format/units';
import { sendMutation, useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { offerUndo, useUndo } from '../shell/undo';
import { useMay, useViewer } from '../shell/viewer';
import { nothing, overview, overviewId } from './board';
import { CreateForm } from './Forms';
import { type Listed, list, remove } from './kept';
import '../styles/usage.css';

/** The dashboards that are kept, by folder, and the ready one. */
export default function Dashboards() {
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const asked = useAsk(may ? list : null);
  const [isMaking, setMaking] = useState(false);
  const { hidden } = useUndo();
  return (
    <div className="page usage">
      <div className="heading">
        <h1>Dashboards</h1>
        {may && <button type="button" className="primary" onClick={() => setMaking(true)}>New dashboard</button>}
      </div>
      {may ? (
        <Panel id="dashboards" title="All dashboards">
          <Answered asked={asked} of={({ company }) => company?.dashboards} label="Reading the dashboards">
            {({ nodes, totalCount }) => {
              const shown = nodes.filter(({ dashboardId }) => !hidden.has(hides(dashboardId)));
              return (
                <>
                  {shown.length === 0 && <Empty>You keep no dashboard yet. Make one, or open the overview and copy it.</Empty>}
                  <div className="folders">
                    {[...new Set(shown.map(({ folder }) => folder ?? ''))].sort().map((folder) => (
                      <section key={folder}>
                        <h3>{folder || 'Without a folder'}</h3>
                        <ul className="plain-list">{shown.filter((one) => (one.folder ?? '') === folder).map((one) => <One key={one.dashboardId} of={one} />)}</ul>
                      </section>
                    ))}
                    <section>
                      <h3>Ready dashboards</h3>
                      <ul className="plain-list"><li><a href={to('dashboard', {}, overviewId)}>{overview.name}</a> <span className="hint">{overview.description}</span></li></ul>
                    </section>
                  </div>
                  {(totalCount ?? 0) > nodes.length && <p className="hint">The first {count(nodes.length)} of {count(totalCount ?? 0)}, by name. The search of the page finds all.</p>}
                </>
              );
            }}
          </Answered>
        </Panel>
      ) : <Empty>You need the permission View Statistics Overview to see dashboards.</Empty>}
      {isMaking && <CreateForm board={{ ...overview, name: '', description: '', tiles: [] }} common={nothing} close={() => setMaking(false)} />}
    </div>
  );
}

const hides = (dashboardId: string) => `dashboard/${dashboardId}`;

function One({ of }: { of: Listed }) {
  const { email } = useViewer();
  const drop = () => offerUndo({
    hides: hides(of.dashboardId), text: `The dashboard ${of.name} is deleted.`, commit: () => sendMutation(remove, { input: { dashboardId: of.dashboardId } }, { keepalive: true }),
  });
  return (
    <li>
      <a href={to('dashboard', {}, of.dashboardId)}>{of.name}</a>{' '}
      {of.isShared && <span className="badge">{of.owner === email ? 'shared' : `shared by ${of.owner || 'the company'}`}</span>}{' '}
      <span className="hint">{of.description}</span>{' '}
      {of.isEditable && <button type="button" className="quiet" aria-label={`Delete the dashboard ${of.name}`} onClick={drop}>Delete</button>}
    </li>
  );
}
