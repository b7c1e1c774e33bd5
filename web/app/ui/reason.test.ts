import { readFileSync } from 'node:fs';
import { buildSchema, getNamedType, isInputObjectType, Kind, parse, type TypeNode } from 'graphql';
import { expect, test } from 'vitest';
import { operationsOf } from '../../operations';

const inner = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : inner(type.type));

test('every form and button whose change can have a reason asks for it', () => {
  const schema = buildSchema(readFileSync('../docs/schema.graphql', 'utf8'));
  /** Whether the audit log keeps a reason with the change; that of a silence is what the silence says. */
  const isReasoned = (text: string) => parse(text).definitions.some((one) => one.kind === Kind.OPERATION_DEFINITION && one.variableDefinitions?.some(({ type }) => {
    const input = getNamedType(schema.getType(inner(type)));
    return isInputObjectType(input) && input.getFields()['reason']?.description?.startsWith('Why, in one line');
  }));
  const asking = operationsOf('app').filter(({ text }) => isReasoned(text));
  expect(asking.length).toBeGreaterThan(8);
  const silent = asking.filter(({ path }) => !/<Reason\b/.test(readFileSync(path, 'utf8')));
  expect(silent.map(({ path, text }) => `${path}: ${text.trim().slice(0, 60)}`)).toEqual([]);
}, 60_000);
