// What can be picked of a company: the groups, tags, tariffs, operators, users and alerts.
// A company with many of them is searched on the server, as one types.
import { useMemo } from 'react';
import { alertName, nameOfAlert } from '../alerts/conditions';
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import type { Problem } from '../graph/problem';
import { useAsk, useSettled } from '../graph/use';
import { useMay } from '../shell/viewer';

export interface Choice {
  key: string;
  text: string;
  /** Stands beside the text, and is searched too. */
  note?: string;
}

interface Connection<T> {
  nodes: T[];
  pageInfo: { hasNextPage: boolean };
}

/** A noun of which one or several are picked. */
export interface Noun {
  query: object;
  /** What all have in common. */
  among?: object;
  /** Whether names of subscribers and groups belong to its text, where the viewer may see them. */
  isNamed?: boolean;
  read: (data: unknown) => { choices: Choice[]; isComplete: boolean };
  /** The filters of those that fit a text, beside what all have in common, and of those that keys name. */
  like: (text: string) => object;
  named: (keys: string[]) => object;
}

type Filter<D extends object> = NonNullable<VariablesOf<D> extends { filter?: infer F } ? F : never>;

interface Parts<D extends object, T> {
  of: (data: ResultOf<D>) => Connection<T> | null;
  choice: (node: T) => Choice;
  among?: Filter<D>;
  isNamed?: boolean;
  like: (text: string) => Filter<D>;
  named: (keys: string[]) => Filter<D>;
}

function noun<D extends object, T>(query: D, { of, choice, among, isNamed, like, named }: Parts<D, T>): Noun {
  const read = (data: unknown) => {
    const found = of(data as ResultOf<D>);
    // Operators of several codes may have the same name.
    const choices = new Map(found?.nodes.map((node) => [choice(node).key, choice(node)]));
    return { choices: [...choices.values()], isComplete: !found?.pageInfo.hasNextPage };
  };
  return { query, among, isNamed, read, like, named };
}

const isNumber = (text: string) => /^[1-9]\d{0,8}$/.test(text);

const operators = graphql('query OperatorsToPick($filter: OperatorFilter) { operators(first: 100, filter: $filter, orderBy: [{ field: NAME }]) { nodes { code name } pageInfo { hasNextPage } } }');

/** All that can be picked, by the noun. */
export const nouns = {
  group: noun(
    graphql('query GroupsToPick($filter: GroupFilter) { groups(first: 100, filter: $filter, orderBy: [{ field: NAME }]) { nodes { groupId name } pageInfo { hasNextPage } } }'),
    {
      of: ({ groups }) => groups,
      choice: ({ groupId, name }) => ({ key: String(groupId), text: name }),
      like: (text) => ({ name: { like: text } }),
      named: (keys) => ({ groupId: { in: keys } }),
    },
  ),
  tag: noun(
    graphql('query TagsToPick($filter: TagFilter) { tags(first: 100, filter: $filter, orderBy: [{ field: NAME }]) { nodes { name } pageInfo { hasNextPage } } }'),
    { of: ({ tags }) => tags, choice: ({ name }) => ({ key: name, text: name }), like: (text) => ({ name: { like: text } }), named: (keys) => ({ name: { in: keys } }) },
  ),
  tariff: noun(
    graphql('query TariffsToPick($filter: TariffFilter) { tariffs(first: 100, filter: $filter, orderBy: [{ field: NAME }]) { nodes { name } pageInfo { hasNextPage } } }'),
    { of: ({ tariffs }) => tariffs, choice: ({ name }) => ({ key: name, text: name }), like: (text) => ({ name: { like: text } }), named: (keys) => ({ name: { in: keys } }) },
  ),
  operatorCode: noun(operators, {
    of: ({ operators }) => operators,
    choice: ({ code, name }) => ({ key: code, text: code, note: name }),
    like: (text) => ({ or: [{ code: { like: text } }, { name: { like: text } }] }),
    named: (keys) => ({ code: { in: keys } }),
  }),
  operatorName: noun(operators, {
    of: ({ operators }) => operators,
    choice: ({ code, name }) => ({ key: name, text: name, note: code }),
    like: (text) => ({ or: [{ code: { like: text } }, { name: { like: text } }] }),
    named: (keys) => ({ name: { in: keys } }),
  }),
  /** The users that can sign in. */
  user: noun(
    graphql('query UsersToPick($filter: UserFilter) { users(first: 100, filter: $filter, orderBy: [{ field: EMAIL }]) { nodes { email } pageInfo { hasNextPage } } }'),
    {
      of: ({ users }) => users,
      choice: ({ email }) => ({ key: email, text: email }),
      among: { isDisabled: { eq: false } },
      like: (text) => ({ email: { like: text } }),
      named: (keys) => ({ email: { in: keys } }),
    },
  ),
  /** Alerts without a name are found by what they watch, and by their number. */
  alert: noun(
    graphql(`
      query AlertsToPick($filter: AlertFilter, $names: Boolean! = false) {
        alerts(first: 100, filter: $filter) {
          nodes { ...AlertName alertId subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { name } }
          pageInfo { hasNextPage }
        }
      }
    `, [alertName]),
    {
      isNamed: true,
      of: ({ alerts }) => alerts,
      choice: (one) => ({ key: String(one.alertId), text: nameOfAlert(one), note: `alert ${one.alertId}` }),
      like: (text) => ({ or: [{ name: { like: text } }, { target: { like: text } }, ...(isNumber(text) ? [{ alertId: { eq: text } }] : [])] }),
      named: (keys) => ({ alertId: { in: keys } }),
    },
  ),
};

const useNamesToo = (isNamed = false) => {
  const names = useMay('VIEW_SUBSCRIBER');
  return isNamed ? { names } : {};
};

const holds = (text: string | undefined, part: string) => text?.toLowerCase().includes(part) ?? false;

/** Returns the choices that fit a text, 100 at most; all of a company that has no more for "". */
export function useChoices({ query, among, isNamed, read, like }: Noun, text: string): { choices: Choice[]; isComplete: boolean; reading: boolean; problem: Problem | undefined } {
  const names = useNamesToo(isNamed);
  const first = useAsk<object>(query as never, { filter: among, ...names });
  const begun = first.data ? read(first.data) : undefined;
  const settled = useSettled(text.trim(), 200);
  const searched = useAsk<object>((begun && !begun.isComplete && settled !== '' ? query : null) as never, { filter: { ...among, ...like(settled) }, ...names });
  const sought = text.trim().toLowerCase();
  const known = (begun?.choices ?? []).filter((one) => holds(one.text, sought) || holds(one.note, sought));
  if (!begun || begun.isComplete || sought === '') return { choices: known, isComplete: begun?.isComplete ?? true, reading: first.loading, problem: first.problem };
  const found = searched.data && settled === text.trim() ? read(searched.data) : undefined;
  return { choices: found?.choices ?? known, isComplete: found?.isComplete ?? false, reading: !found, problem: searched.problem };
}

/** Returns what keys are called, by key, as far as they are known and still there, and whether all were read. */
export function useNamed({ query, isNamed, read, named }: Noun, keys: readonly string[]): { names: ReadonlyMap<string, string>; isRead: boolean } {
  const names = useNamesToo(isNamed);
  const asked = [...new Set(keys)].sort().slice(0, 100);
  const { data, former, problem } = useAsk<object>((asked.length > 0 ? query : null) as never, { filter: named(asked), ...names });
  const answer = data ?? former;
  const known = useMemo(() => new Map(answer ? read(answer).choices.map(({ key, text }) => [key, text]) : []), [answer]);
  return { names: known, isRead: data !== undefined && problem === undefined };
}

/** Returns what keys are called, by key, as far as they are known and still there. */
export const useNames = (of: Noun, keys: readonly string[]): ReadonlyMap<string, string> => useNamed(of, keys).names;

/** Returns what groups are called, by their number, as far as the viewer may see them. */
export function useGroupNames(ids: readonly (number | string | null | undefined)[]): ReadonlyMap<string, string> {
  const maySee = useMay('VIEW_SUBSCRIBER');
  return useNames(nouns.group, maySee ? ids.map(String).filter(isNumber) : []);
}
