import type { ReactNode } from 'react';
import { to } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Tabs } from '../ui/Tabs';
import '../styles/lists.css';

/** The heading and the parts of the place Alerts. */
export function Frame({ current, children }: { current: 'alerts' | 'alertLog' | 'conditions' | 'silences' | 'recipients' | 'webhooks'; children: ReactNode }) {
  const mayAdd = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  const tab = (view: typeof current, name: string) => ({ name, href: to(view), current: view === current });
  return (
    <div className="page wide">
      <div className="heading">
        <h1>Alerts</h1>
        {mayAdd && <a className="button primary" href={to('newAlert')}>New alert</a>}
      </div>
      <Tabs label="Parts of Alerts" tabs={[tab('alerts', 'Alerts'), tab('alertLog', 'Log'), tab('conditions', 'Conditions'), tab('silences', 'Silences'), tab('recipients', 'Recipients'), tab('webhooks', 'Webhooks')]} />
      {children}
    </div>
  );
}
