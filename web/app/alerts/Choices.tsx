import { bytes, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import type { Problem } from '../graph/problem';
import { useAsk } from '../graph/use';
import { useMay } from '../shell/viewer';
import { kinds } from './conditions';
import { rules } from './words';

const offered = graphql(`
  query AlertsToChoose($names: Boolean!) {
    alerts(first: 100) { nodes { alertId ruleType target upperThreshold } }
    conditionAlerts(first: 100) { nodes { alertId ruleType target kind } }
    groups(first: 100) @include(if: $names) { nodes { groupId name } }
  }
`);

export interface Choice {
  id: number;
  text: string;
}

/** The alerts, of volume and on conditions, and the groups that can be chosen; undefined until they are read. */
export function useOffered(): { alerts: Choice[] | undefined; groups: Choice[]; problem: Problem | undefined } {
  const { data, problem } = useAsk(offered, { names: useMay('VIEW_SUBSCRIBER') });
  useSystem();
  const target = (of: { ruleType: string; target: string }) => `${rules[of.ruleType]}${of.target && ` ${of.target}`}`;
  const alerts = data && [
    ...(data.alerts?.nodes ?? []).map((one) => ({ id: one.alertId, text: `${target(one)}: above ${bytes(one.upperThreshold)}` })),
    ...(data.conditionAlerts?.nodes ?? []).map((one) => ({ id: one.alertId, text: `${target(one)}: ${kinds[one.kind]?.toLowerCase()}` })),
  ];
  return { alerts, groups: (data?.groups?.nodes ?? []).map(({ groupId, name }) => ({ id: groupId, text: name })), problem };
}

/** The choices with those that are chosen and not offered, such as deleted alerts. */
export const withGone = (offered: Choice[], chosen: Iterable<number>): Choice[] => [
  ...offered,
  ...[...chosen].filter((id) => !offered.some((one) => one.id === id)).map((id) => ({ id, text: `Alert ${id}, which is not offered here or was deleted` })),
];

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
