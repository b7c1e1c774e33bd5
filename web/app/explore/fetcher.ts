// What GraphiQL sends by. Every result is also kept for the chart.
import type { Fetcher, FetcherParams, Observable } from '@graphiql/toolkit';
import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { type Answer, send, subscribe } from '../graph/client';
import { type Problem, problemOf } from '../graph/problem';
import { addEvent, change, keep, openTab } from './results';

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
  const id = openTab();
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

interface Observer {
  next: (answer: Answer) => void;
  complete: () => void;
}

/** An observable rather than a generator: it can be stopped while it waits for an event. */
function listen(params: FetcherParams, name: string): Observable<Answer> {
  // GraphiQL always passes an object.
  return { subscribe: (observer) => ({ unsubscribe: follow(params, name, observer as Observer) }) };
}

/** Keeps and hands on the events of a subscription, until it ends or is told to. */
function follow(params: FetcherParams, name: string, observer: Observer): () => void {
  const id = openTab();
  const end = (problem: Problem | null) => change(id, { running: false, problem });
  keep(id, { name, answer: null, events: [], problem: null, running: true, milliseconds: 0 });
  const stop = subscribe(params, {
    next: (event) => {
      addEvent(id, event);
      observer.next(event);
    },
    error: (problem) => {
      end(problem);
      observer.next({ errors: [{ message: problem.message }] });
      observer.complete();
    },
    complete: () => {
      end(null);
      observer.complete();
    },
  });
  return () => {
    stop();
    end(null);
  };
}
