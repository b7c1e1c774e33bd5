import type { ReactNode } from 'react';
import { useMay } from '../shell/viewer';
import { nouns } from '../picker/choices';
import { PickSome } from '../picker/Picker';

/** What an input is for: all, or the lists that name something. */
export function scopeOf<Lists extends object>(all: boolean, lists: Lists): { all: true } | Partial<Lists> {
  return all ? { all } : Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)) as Partial<Lists>;
}

interface AllProps {
  name: string;
  said: boolean;
  /** Whether nothing is chosen instead. */
  unsaid: boolean;
  change: (said: boolean) => void;
  children: ReactNode;
}

/** Says all in words; the children say how choices work instead. */
export function All({ name, said, unsaid, change, children }: AllProps) {
  return (
    <>
      <label className="inline"><input type="checkbox" checked={said} onChange={(event) => change(event.target.checked)} /> {name}</label>
      {!said && <p className="hint">{children}</p>}
      {unsaid && <p className="hint" role="status">Choose {name.toLowerCase()}, or something below.</p>}
    </>
  );
}

interface ScopeProps {
  alerts: ReadonlySet<string>;
  setAlerts: (chosen: ReadonlySet<string>) => void;
  groups: ReadonlySet<string>;
  setGroups: (chosen: ReadonlySet<string>) => void;
}

/** Picks the alerts and the groups that something is for. */
export function AlertsAndGroups({ alerts, setAlerts, groups, setGroups }: ScopeProps) {
  const maySeeGroups = useMay('VIEW_SUBSCRIBER');
  return (
    <>
      <PickSome of={nouns.alert} label="Alerts" chosen={alerts} change={setAlerts} gone={(key) => `Alert ${key}, which is not offered here or was deleted`} />
      {maySeeGroups && <PickSome of={nouns.group} label="Groups" chosen={groups} change={setGroups} gone={(key) => `Group ${key}`} />}
    </>
  );
}
