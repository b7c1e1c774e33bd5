import { type ASTNode, type ConstDirectiveNode, type ConstValueNode, type DirectiveNode, Kind, parse, print, visit } from 'graphql';

const literal = (value: unknown): ConstValueNode =>
  typeof value === 'boolean' ? { kind: Kind.BOOLEAN, value } : typeof value === 'number' ? { kind: Kind.INT, value: String(value) } : { kind: Kind.ENUM, value: String(value) };

/** An operation as people write it: what its variables leave out is gone, and those that have a default value stand in their places. */
export function plain(text: string, variables: Record<string, unknown>): { query: string; variables: Record<string, unknown> } {
  const chosen = new Map<string, ConstValueNode>();
  const kept: Record<string, unknown> = {};
  const spread = new Set<string>();
  const isLeftOut = ({ name, arguments: [condition] = [] }: DirectiveNode | ConstDirectiveNode) =>
    name.value === 'include' && condition?.value.kind === Kind.BOOLEAN && !condition.value.value;
  const document = visit(parse(text), {
    VariableDefinition({ variable: { name }, defaultValue }) {
      if (!defaultValue) return false;
      chosen.set(name.value, name.value in variables ? literal(variables[name.value]) : defaultValue);
      return null;
    },
    Variable: ({ name }) => chosen.get(name.value),
  });
  const short = visit(document, {
    Field: ({ directives = [], ...field }) => (directives.some(isLeftOut) ? null : { ...field, directives: [] }),
    FragmentSpread: ({ name }) => void spread.add(name.value),
    OperationDefinition: { leave: (node) => ({ ...node, variableDefinitions: node.variableDefinitions?.filter(({ variable }) => isUsed(node.selectionSet, variable.name.value)) }) },
  });
  const whole = visit(short, {
    FragmentDefinition: ({ name }) => (spread.has(name.value) ? undefined : null),
    VariableDefinition: ({ variable: { name } }) => void (kept[name.value] = variables[name.value]),
  });
  return { query: `${print(whole)}\n`, variables: kept };
}

function isUsed(node: ASTNode, name: string): boolean {
  let found = false;
  visit(node, { Variable: (variable) => void (found ||= variable.name.value === name) });
  return found;
}
