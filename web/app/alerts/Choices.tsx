import type { ReactNode } from 'react';
import { useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import type { Problem } from '../graph/problem';
import { useAsk } from '../graph/use';
import { useMay } from '../shell/viewer';
import { alertName, nameOfAlert } from './conditions';

const offered = graphql(`
  query AlertsToChoose($names: Boolean!) {
    alerts(first: 100) {
      nodes {
        ...AlertName alertId subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { name }
      }
    }
    groups(first: 100) @include(if: $names) { nodes { groupId name } }
  }
`, [alertName]);

export interface Choice {
  id: number;
  text: string;
}

/** The alerts, of volume and on conditions, and the groups that can be chosen; undefined until they are read. */
export function useOffered(): { alerts: Choice[] | undefined; groups: Choice[]; problem: Problem | undefined } {
  const { data, problem } = useAsk(offered, { names: useMay('VIEW_SUBSCRIBER') });
  useSystem();
  const alerts = data && (data.alerts?.nodes ?? []).map((one) => ({ id: one.alertId, text: nameOfAlert(one) }));
  return { alerts, groups: (data?.groups?.nodes ?? []).map(({ groupId, name }) => ({ id: groupId, text: name })), problem };
}

/** The choices with those that are chosen and not offered, such as deleted alerts. */
export const withGone = (offered: Choice[], chosen: Iterable<number>): Choice[] => [
  ...offered,
  ...[...chosen].filter((id) => !offered.some((one) => one.id === id)).map((id) => ({ id, text: `Alert ${id}, which is not offered here or was deleted` })),
];

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

interface ChoicesProps {
  legend: string;
  all: Choice[];
  chosen: ReadonlySet<number>;
  change: (chosen: ReadonlySet<number>) => void;
}

/** Boxes to choose some of them. */
export function Choices({ legend, all, chosen, change }: ChoicesProps) {
  if (all.length === 0) return null;
  const turn = (id: number, on: boolean) => change(new Set(on ? [...chosen, id] : [...chosen].filter((one) => one !== id)));
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {all.map(({ id, text }) => (
        <label key={id} className="inline"><input type="checkbox" checked={chosen.has(id)} onChange={(event) => turn(id, event.target.checked)} /> {text}</label>
      ))}
    </fieldset>
  );
}
