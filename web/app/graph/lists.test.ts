import { readFileSync } from 'node:fs';
import { buildSchema, type FieldNode, getNamedType, Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { expect, test } from 'vitest';
import { manifest } from '../../operations';

/** The lists that have no more than one page: by the limits of a company, see docs/limits.md, or since 100 at most are asked for by their ids. */
const short = [/^silences in/, /^recipients in/, /^webhooks in/, /^subscribers in query TagsOfChosen/];

/** From here on a list is read for all that it has, and not for the newest few. */
const whole = 100;

const isWhole = ({ arguments: given }: FieldNode) => (given ?? []).some(({ name, value }) => name.value === 'first' && (value.kind !== Kind.INT || Number(value.value) >= whole));

test('a list that may have more than is read says so', () => {
  const schema = buildSchema(readFileSync('../docs/schema.graphql', 'utf8'));
  const silent = Object.values(JSON.parse(manifest('app')) as Record<string, string>).flatMap((text) => {
    const found: string[] = [];
    const types = new TypeInfo(schema);
    visit(parse(text), visitWithTypeInfo(types, {
      Field(node) {
        const type = getNamedType(types.getType());
        const selected = node.selectionSet?.selections.map((one) => (one.kind === Kind.FIELD ? one.name.value : '')) ?? [];
        if (type?.name.endsWith('Connection') && isWhole(node) && !selected.includes('pageInfo') && !selected.includes('totalCount')) found.push(`${node.name.value} in ${text.trim().slice(0, 40)}`);
      },
    }));
    return found;
  });
  expect(silent.filter((one) => !short.some((known) => known.test(one)))).toEqual([]);
}, 60_000);
