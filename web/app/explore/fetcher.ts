// What GraphiQL sends by. Every result is also kept for the chart.
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { type Answer, send, subscribe } from '../graph/client';
import { problemOf } from '../graph/problem';
import { addEvent, change, keep, tab } from './results';

export const fetcher: Fetcher = (params, options) => {
  const operation = operationOf(params, options?.documentAST);
  if (params.operationName === 'IntrospectionQuery') return send(params);
  const name = operation?.name?.value ?? 'Answer';
  return operation?.operation === 'subscription' ? listen(params, name) : answer(params, name);
};

function operationOf(params: FetcherParams, parsed?: DocumentNode): OperationDefinitionNode | undefined {
  try {
    const document = parsed ?? parse(params.query, { noLocation: true });
    const operations = document.definitions.filter((one) => one.kind === 'OperationDefinition');
    return operations.find((one) => one.name?.value === params.operationName) ?? operations[0];
  } catch {
    return undefined; // the server says what is wrong with it
  }
}

async function answer(params: FetcherParams, name: string): Promise<Answer> {
  const id = tab.current;
  const begun = performance.now();
  const blank = { name, events: null, problem: null };
  try {
    const answer = await send(params);
    keep(id, { ...blank, answer, running: false, milliseconds: performance.now() - begun });
    return answer;
  } catch (error) {
    const problem = problemOf(error);
    keep(id, { ...blank, answer: null, problem, running: false, milliseconds: performance.now() - begun });
    return { errors: [{ message: problem.message }] };
  }
}

async function* listen(params: FetcherParams, name: string): AsyncGenerator<Answer> {
  const id = tab.current;
  const begun = performance.now();
  keep(id, { name, answer: null, events: [], problem: null, running: true, milliseconds: 0 });
  try {
    for await (const event of subscribe(params)) {
      addEvent(id, event);
      yield event;
    }
  } catch (error) {
    change(id, { problem: problemOf(error) });
    yield { errors: [{ message: problemOf(error).message }] };
  } finally {
    change(id, { running: false, milliseconds: performance.now() - begun });
  }
}
