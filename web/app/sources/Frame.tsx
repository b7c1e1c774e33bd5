import type { ReactNode } from 'react';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { Tabs } from '../ui/Tabs';
import '../styles/lists.css';
import '../styles/sources.css';

/** Whether the viewer may connect sources and change them. */
export function useMayConnect(): boolean {
  const { isRestricted } = useViewer();
  return useMay('VIEW_STATISTICS_OVERVIEW', 'RECORD_USAGE') && !isRestricted;
}

/** The heading and the parts of the place Sources. */
export function Frame({ current, children }: { current: 'sources' | 'sourceProfiles'; children: ReactNode }) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const mayConnect = useMayConnect();
  return (
    <div className="page wide">
      <div className="heading">
        <h1>Sources</h1>
        {mayConnect && <a className="button primary" href={to('connect')}>Connect</a>}
      </div>
      {may && !isRestricted && <Tabs label="Parts of Sources" tabs={[{ name: 'Sources', href: to('sources'), current: current === 'sources' }, { name: 'Profiles', href: to('sourceProfiles'), current: current === 'sourceProfiles' }]} />}
      {children}
    </div>
  );
}
