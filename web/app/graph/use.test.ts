import { act, createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Document } from './graphql';
import { beginning, type List, pageLength, useList } from './list';
import { amend, answers, type Asked, mutate, refresh, useAsk } from './use';

interface Request {
  variables: { after?: string | null; first?: number };
  answer: (data: unknown) => Promise<void>;
}

// Requests wait until the test answers them, in any order.
let requests: Request[];
let unmount: () => void;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  requests = [];
  vi.stubGlobal('fetch', (_: string, { body, signal }: { body: string; signal?: AbortSignal }) =>
    new Promise<Response>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
      requests.push({ ...JSON.parse(body), answer: (data) => settled(() => resolve(new Response(JSON.stringify({ data })))) });
    }));
});

afterEach(() => {
  unmount();
  answers.clear();
  vi.unstubAllGlobals();
});

const settled = (change: () => unknown) =>
  act(async () => {
    change();
    await new Promise((resolve) => setTimeout(resolve, 20));
  });

/** Runs a hook in a component, and answers with what it returned last. */
async function hold<T>(hook: () => T): Promise<() => T> {
  let last: T;
  const root = createRoot(document.createElement('div'));
  const Holder = () => {
    last = hook();
    return null;
  };
  unmount = () => act(() => root.unmount());
  await settled(() => root.render(createElement(Holder)));
  return () => last;
}

const question = 'query Operation { state }' as Document;
type State = { state: string };

const changes: Record<string, (asked: Asked<State>) => unknown> = {
  refresh: () => refresh(),
  reload: ({ reload }) => reload(),
};

for (const [name, change] of Object.entries(changes)) {
  test(`a first answer from before ${name} is dropped, and asked again`, async () => {
    const asked = await hold(() => useAsk<State>(question));
    await settled(() => change(asked()));
    expect(requests).toHaveLength(2);
    await requests[0]!.answer({ state: 'PENDING' });
    expect(asked().data).toBeUndefined();
    await requests[1]!.answer({ state: 'DONE' });
    expect(asked().data).toEqual({ state: 'DONE' });
  });

  test(`a later answer from before ${name} does not replace the one after it`, async () => {
    const asked = await hold(() => useAsk<State>(question));
    await requests[0]!.answer({ state: 'PENDING' });
    await settled(() => change(asked()));
    await settled(() => change(asked()));
    await requests[2]!.answer({ state: 'DONE' });
    await requests[1]!.answer({ state: 'RUNNING' });
    expect(asked().data).toEqual({ state: 'DONE' });
  });
}

test('what was read while a mutation ran is read again after it', async () => {
  const asked = await hold(() => useAsk<State>(question));
  void mutate('mutation Cancel { cancel }' as never, {} as never);
  await requests[1]!.answer({ cancel: true });
  await requests[0]!.answer({ state: 'PENDING' });
  await requests[2]!.answer({ state: 'DONE' });
  expect(asked().data).toEqual({ state: 'DONE' });
});

test('an answer from before an event does not replace what the event reported', async () => {
  const asked = await hold(() => useAsk<State>(question));
  await requests[0]!.answer({ state: 'PENDING' });
  await settled(() => asked().reload());
  await settled(() => amend<{ data: State }>([question, {}], (before) => ({ ...before, data: { state: 'DONE' } })));
  await requests[1]!.answer({ state: 'RUNNING' });
  expect(asked().data).toEqual({ state: 'DONE' });
  await requests[2]!.answer({ state: 'ENDED' });
  expect(asked().data).toEqual({ state: 'ENDED' });
});

const results = 'query Results { results { nodes } }';
const pageOf = (state: string, endCursor: string | null, length: number) => ({ results: { nodes: Array.from({ length }, () => state), pageInfo: { endCursor, hasNextPage: endCursor !== null } } });

for (const length of [pageLength, 50]) {
  test(`a page of ${length} rows out of view is read again when it comes into view after a change, also where an answer was under way`, async () => {
    const list = await hold<List<string>>(() => useList<object, string>(results as never, {} as never, (data) => (data as unknown as ReturnType<typeof pageOf>).results, beginning, { length }));
    await requests[0]!.answer(pageOf('PENDING', 'a', length));
    await settled(() => list().more!());
    await requests[1]!.answer(pageOf('PENDING', null, length));
    expect(list().rows).toHaveLength(2 * length);
    await settled(() => list().look(length, length + 9));
    await settled(() => list().reload());
    const second = requests.findLast(({ variables }) => variables.after === 'a')!;
    await settled(() => list().look(0, 9));
    await settled(() => list().reload());
    await second.answer(pageOf('PENDING', null, length));
    const first = requests.findLast(({ variables }) => variables.after === null)!;
    await first.answer(pageOf('DONE', 'a', length));
    const asked = requests.length;
    await settled(() => list().look(length, length + 9));
    expect(requests.slice(asked).map(({ variables }) => variables.after)).toEqual(['a']);
    await requests.at(-1)!.answer(pageOf('DONE', null, length));
    expect(new Set(list().rows)).toEqual(new Set(['DONE']));
    expect(new Set(requests.map(({ variables }) => variables.first))).toEqual(new Set([length]));
  });
}

test('answers are changed and read again only here, where older ones under way are dropped', () => {
  const sources = import.meta.glob<string>(['../**/*.ts', '../**/*.tsx', '!./**'], { query: '?raw', import: 'default', eager: true });
  const past = Object.entries(sources).filter(([, source]) => /\b(setQueryData|invalidateQueries|refetchQueries|cancelQueries|refetch)\b/.test(source));
  expect(past.map(([file]) => file)).toEqual([]);
  expect(Object.keys(sources).length).toBeGreaterThan(100);
});
