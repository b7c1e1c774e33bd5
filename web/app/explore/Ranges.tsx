import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { Period } from '../shell/viewer';
import { useViewer } from '../shell/viewer';
import { type Range, presets } from './ranges';

const pairs = [['from', 'to'], ['startDate', 'endDate']] as const;

/** Time presets, for a query with variables for the start and the end. */
export function Ranges() {
  const { run } = useGraphiQLActions();
  const { company } = useViewer();
  const { operations, variableEditor } = useGraphiQL(pick('operations', 'variableEditor'));
  const names = (operations ?? []).flatMap((one) => (one.variableDefinitions ?? []).map((v) => v.variable.name.value));
  const pair = pairs.find(([start, end]) => names.includes(start) && names.includes(end));
  if (!pair || !variableEditor) return null;
  const choose = (of: (period: Period) => Range) => {
    const range = of(company.currentPeriod);
    variableEditor.setValue(withRange(variableEditor.getValue(), pair, range));
    run();
  };
  return (
    <div className="ranges" role="group" aria-label="Time range">
      {presets.map(({ name, range }) => (
        <button key={name} type="button" onClick={() => choose(range)}>{name}</button>
      ))}
    </div>
  );
}

/** The variables with another range; what cannot be read begins anew. */
function withRange(text: string, [start, end]: readonly [string, string], range: Range): string {
  let variables: Record<string, unknown> = {};
  try {
    variables = JSON.parse(text || '{}');
  } catch {
    variables = {};
  }
  return JSON.stringify({ ...variables, [start]: range.from, [end]: range.to }, null, 2);
}
