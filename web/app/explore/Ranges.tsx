import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { Span } from '../format/span';
import { useViewer } from '../shell/viewer';
import { presets } from './ranges';

const pairs = [['from', 'to'], ['startDate', 'endDate']] as const;

/** Time presets, for a query with variables for the start and the end. */
export function Ranges() {
  const { run } = useGraphiQLActions();
  const { company } = useViewer();
  const { operations, variableEditor } = useGraphiQL(pick('operations', 'variableEditor'));
  const names = (operations ?? []).flatMap((one) => (one.variableDefinitions ?? []).map((v) => v.variable.name.value));
  const pair = pairs.find(([start, end]) => names.includes(start) && names.includes(end));
  if (!pair || !variableEditor) return null;
  const choose = (span: Span) => {
    variableEditor.setValue(withSpan(variableEditor.getValue(), pair, span));
    run();
  };
  return (
    <div className="ranges" role="group" aria-label={`Time range, by days of ${company.timeZone}`}>
      {presets.map(({ name, span }) => (
        <button key={name} type="button" title={`Days and months of ${company.timeZone}`} onClick={() => choose(span(company))}>{name}</button>
      ))}
    </div>
  );
}

/** The variables with another span; what cannot be read begins anew. */
function withSpan(text: string, [start, end]: readonly [string, string], span: Span): string {
  let variables: Record<string, unknown> = {};
  try {
    variables = JSON.parse(text || '{}');
  } catch {
    variables = {};
  }
  return JSON.stringify({ ...variables, [start]: span.from, [end]: span.to }, null, 2);
}
